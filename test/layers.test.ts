import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  EXCEPTIONS,
  findFaults,
  findFolderFaults,
  findShapeFaults,
  importsOf,
  LARGE,
  MUTUAL,
  type Room,
  readSources,
} from '../scripts/layers.ts'

describe('the rooms of src', () => {
  test('import what their table allows', () => {
    assert.deepEqual(findFaults(readSources()), [])
  })

  test('have folders and functions that can be read at once', () => {
    assert.deepEqual(findShapeFaults(readSources()), [])
  })

  test('have a purpose for each folder', () => {
    assert.deepEqual(findFolderFaults(readSources().keys()), [])
    const rooms = { a: { is: '', folders: { b: 'B', gone: 'G', bare: '' } } }
    assert.deepEqual(findFolderFaults(['src/a/x.ts', 'src/a/b/y.ts', 'src/a/bare/y.ts', 'src/a/new/z.ts'], rooms), [
      'src/a/bare has no purpose: add one to its room in scripts/layers.ts',
      'src/a/new has no purpose: add one to its room in scripts/layers.ts',
      'src/a/gone is gone: take it out of its room in scripts/layers.ts',
    ])
  })

  test('every exception says why', () => {
    for (const it of [...EXCEPTIONS, ...MUTUAL, ...LARGE]) assert.ok(it.why.length > 20, JSON.stringify(it))
  })
})

describe('importsOf', () => {
  const cases: [text: string, imports: [specifier: string, types: boolean, later: boolean][]][] = [
    [`import { a } from './a.ts'`, [['./a.ts', false, false]]],
    [`import type { A } from './a.ts'`, [['./a.ts', true, false]]],
    [`import { type A } from './a.ts'`, [['./a.ts', false, false]]],
    [`import type from './a.ts'`, [['./a.ts', false, false]]],
    [`import {\n  a,\n  type B,\n} from './a.ts'`, [['./a.ts', false, false]]],
    [`import * as a from '../a/b.ts'`, [['../a/b.ts', false, false]]],
    [`import './a.ts'`, [['./a.ts', false, false]]],
    [`export * from './a.ts'`, [['./a.ts', false, false]]],
    [`export type { A } from './a.ts'`, [['./a.ts', true, false]]],
    [`export { a } from './a.ts'`, [['./a.ts', false, false]]],
    [`const { a } = await import('./a.ts')`, [['./a.ts', false, true]]],
    [`import Database from 'better-sqlite3'`, [['better-sqlite3', false, false]]],
    [`export const from = 'a'\n// import { b } from './b.ts'\n`, []],
    [
      `export const a = () => { return 1 }\nimport { b } from './b.ts'\nimport type { C } from './c.ts'`,
      [
        ['./b.ts', false, false],
        ['./c.ts', true, false],
      ],
    ],
  ]
  for (const [text, imports] of cases)
    test(text.replaceAll('\n', ' '), () =>
      assert.deepEqual(
        importsOf(text),
        imports.map(([specifier, types, later]) => ({ specifier, types, later })),
      ),
    )
})

describe('findFaults', () => {
  const rooms: Record<string, Room> = {
    lib: { is: '' },
    low: { is: '', may: ['lib'], pure: true },
    tables: { is: '', sql: 'its own' },
    high: { is: '', may: ['lib'], types: ['low'], packages: ['@scope/good', 'good'] },
  }
  /** A tree in which everything is right, but for these files. */
  const faults = (changes: Record<string, string>, exceptions: typeof EXCEPTIONS = []) =>
    findFaults(
      new Map(
        Object.entries({
          'src/lib/a.ts': 'export const a = 1',
          'src/low/a.ts': `import { a } from '../lib/a.ts'`,
          'src/tables/a.ts': '',
          'src/high/a.ts': `import type { A } from '../low/a.ts'`,
          ...changes,
        }),
      ),
      rooms,
      exceptions,
    )
  const upwards = { 'src/lib/b.ts': `import { a } from '../low/a.ts'` }
  const excepted = { from: 'src/lib/b.ts', to: 'src/low/a.ts', why: '' }

  test('finds none where there is none', () => {
    assert.deepEqual(faults({}), [])
    assert.deepEqual(
      faults({ 'src/high/b.ts': `import good from 'good/inner'\nimport { a } from '@scope/good'\nimport 'node:fs'` }),
      [],
    )
  })

  test('an arrow that points the wrong way', () => {
    assert.deepEqual(faults(upwards), ['src/lib/b.ts imports src/low/a.ts: lib may not know low'])
  })

  test('an arrow for types that carries a value', () => {
    assert.deepEqual(faults({ 'src/high/b.ts': `import { type A } from '../low/a.ts'` }), [
      'src/high/b.ts imports src/low/a.ts: high may know types of low alone (import type)',
    ])
  })

  test('an arrow that is only taken later', () => {
    assert.deepEqual(faults({ 'src/lib/b.ts': `void import('../low/a.ts')` }), [
      'src/lib/b.ts imports src/low/a.ts: lib may not know low',
    ])
  })

  test('an exception lets one pair of files through, and must be needed', () => {
    assert.deepEqual(faults(upwards, [excepted]), [])
    assert.deepEqual(faults({}, [excepted]), ['the exception src/lib/b.ts to src/low/a.ts is not needed: take it out'])
  })

  test('a file of no room, and a room without files', () => {
    assert.deepEqual(faults({ 'src/new/a.ts': '' }), ['src/new is in no room: add it to scripts/layers.ts'])
    const three = new Map([['src/lib/a.ts', '']])
    assert.deepEqual(findFaults(three, rooms, []), [
      'the room low is empty: take it out',
      'the room tables is empty: take it out',
      'the room high is empty: take it out',
    ])
  })

  test('a table with a ring', () => {
    const ring: Record<string, Room> = { a: { is: '', types: ['b'] }, b: { is: '', may: ['a'] } }
    const files = new Map([
      ['src/a/a.ts', ''],
      ['src/b/b.ts', ''],
    ])
    assert.deepEqual(findFaults(files, ring, []), ['the room a names b, which does not stand above it'])
  })

  test('what is no file of src', () => {
    assert.deepEqual(faults({ 'src/low/b.ts': `import { a } from '../../scripts/layers.ts'` }), [
      'src/low/b.ts imports ../../scripts/layers.ts, which is no file of src',
    ])
    assert.deepEqual(faults({ 'src/low/b.ts': `import { a } from './missing.ts'` }), [
      'src/low/b.ts imports ./missing.ts, which is no file of src',
    ])
  })

  test('packages of other rooms, and Node in a pure room', () => {
    assert.deepEqual(faults({ 'src/low/b.ts': `import good from 'good'\nimport { join } from 'node:path'` }), [
      'src/low/b.ts imports good: not a package of its room',
      'src/low/b.ts imports node:path: its room is pure',
    ])
  })

  test('SQL in a room without tables', () => {
    const told = (call: string) => [
      `src/low/b.ts asks by SQL (${call}): its room may not, ask a room that has tables of its own`,
    ]
    assert.deepEqual(faults({ 'src/low/b.ts': 'db.prepare("SELECT 1")' }), told('.prepare'))
    assert.deepEqual(faults({ 'src/low/b.ts': 'const a = db\n  .prepare<[], number>(\n' }), told('.prepare'))
    assert.deepEqual(faults({ 'src/low/b.ts': `db.pragma('user_version')` }), told('.pragma'))
    assert.deepEqual(faults({ 'src/low/b.ts': `db.exec('BEGIN')` }), told('.exec'))
    assert.deepEqual(faults({ 'src/low/b.ts': 'db.exec(sql)' }), told('.exec'))
    assert.deepEqual(faults({ 'src/low/b.ts': 'prepare(request); /a/.exec(text); NUMBER.exec(text)' }), [])
    assert.deepEqual(faults({ 'src/tables/b.ts': `db.exec('BEGIN')` }), [])
  })

  test('files in a ring, told once', () => {
    const ring = {
      'src/lib/b.ts': `import './c.ts'`,
      'src/lib/c.ts': `import './d.ts'`,
      'src/lib/d.ts': `import './b.ts'\nimport './a.ts'`,
    }
    assert.deepEqual(faults(ring), ['files import each other in a ring: src/lib/b.ts, src/lib/c.ts, src/lib/d.ts'])
    const harmless = { 'src/lib/b.ts': `import './c.ts'`, 'src/lib/c.ts': `import type { B } from './b.ts'` }
    assert.deepEqual(faults(harmless), [])
  })
})

describe('findShapeFaults', () => {
  const faults = (files: Record<string, string>, lists: Parameters<typeof findShapeFaults>[1] = {}) =>
    findShapeFaults(new Map(Object.entries(files)), { mutual: [], large: [], ...lists })

  test('folders of a room that import each other, but for a folder and what is inside it', () => {
    const files = {
      'src/a/low/x.ts': `import { y } from '../high/y.ts'`,
      'src/a/high/y.ts': `import type { X } from '../low/x.ts'`,
      'src/a/high/inner/z.ts': `import { y } from '../y.ts'`,
      'src/a/high/v.ts': `import { z } from './inner/z.ts'`,
    }
    const fault =
      'src/a/high and src/a/low import each other: src/a/high/y.ts imports src/a/low/x.ts, src/a/low/x.ts imports src/a/high/y.ts'
    assert.deepEqual(faults(files), [fault])
    const mutual = [{ folders: ['src/a/high', 'src/a/low'], why: '' }] as const
    assert.deepEqual(faults(files, { mutual }), [])
    assert.deepEqual(faults({}, { mutual }), ['src/a/high and src/a/low no longer import each other: take them out'])
  })

  test('wide folders and long functions, which may only shrink', () => {
    const wide = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`src/a/${i}.ts`, '']))
    assert.deepEqual(faults(wide), ['src/a has 31 files: 30 at most'])
    assert.deepEqual(faults(wide, { large: [{ path: 'src/a', most: 31, why: '' }] }), [])
    assert.deepEqual(faults(wide, { large: [{ path: 'src/a', most: 33, why: '' }] }), [
      'src/a has 31 files: write that in place of 33',
    ])
    const long = { 'src/a/b.ts': `export const make = ({\n  a,\n}: A) => {\n${'  a()\n'.repeat(150)}}\nconst b = 1\n` }
    assert.deepEqual(faults(long), ['make of src/a/b.ts has 154 lines: 150 at most'])
    const large = [{ path: 'src/a/b.ts', name: 'make', most: 154, why: '' }]
    assert.deepEqual(faults(long, { large }), [])
    assert.deepEqual(faults({ 'src/a/b.ts': 'const make = () => {\n}\n' }, { large }), [
      'make of src/a/b.ts has 2 lines: take it out of the list',
    ])
    assert.deepEqual(faults({}, { large }), ['make of src/a/b.ts is gone: take it out of the list'])
  })
})
