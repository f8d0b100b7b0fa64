import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

// A name leads a reader to one thing: the first word that somebody searches for should not stand for several.

const files = globSync('src/**/*.{ts,tsx}').map(path => path.replaceAll('\\', '/'))
const DECLARED = /^(export )?(?:async )?(?:const|function|interface|type|class|enum) (\w+)/gm
const declared = files.flatMap(file =>
  Array.from(readFileSync(file, 'utf8').matchAll(DECLARED), ([, exported, name]) => ({
    ...{ file, name: name!, isExported: exported !== undefined },
  })),
)

/** Names that stand in more than one file. */
const several = (names: readonly { file: string; name: string }[]): string[] => {
  const places = Map.groupBy(names, ({ name }) => name)
  const different = [...places].filter(([, all]) => new Set(all.map(({ file }) => file)).size > 1)
  return different.map(([name]) => name).toSorted()
}

test('exported names of a room are unique', () => {
  const rooms = Map.groupBy(
    declared.filter(({ isExported }) => isExported),
    ({ file }) => file.split('/')[1]!,
  )
  const twice = [...rooms].flatMap(([room, names]) => several(names).map(name => `${room}: ${name}`))
  assert.deepEqual(twice, [])
})

/** Words that say nothing of what they name. */
const BANNED = new Set(
  (
    'told tell tells telling teller asked asking answered known kept keep held found shown seen chosen taken wanted given left lost ' +
    'moved changed expected behind ahead beside bound cut due pick picks place places part parts thing things stuff ' +
    'shelf shelved tenure mending troubles whole okay hung put flights agenda intake upkeep fullness helpers utils common misc'
  ).split(' '),
)

test('no file, type or exported function has a name that says nothing', {
  todo: 'rooms are renamed one by one',
}, () => {
  const fileNames = files.map(file => [basename(file).split('.')[0]!, file] as const)
  const names = declared
    .filter(({ isExported }) => isExported)
    .map(({ name, file }) => [name.toLowerCase(), file] as const)
  const banned = [...fileNames, ...names].filter(([name]) => BANNED.has(name))
  assert.deepEqual(
    banned.map(([name, file]) => `${file}: ${name}`),
    [],
  )
})

const LIST = 'test/homonyms.txt'

test('names that stand in several files do not become more (UPDATE=1 writes the list once there are fewer)', () => {
  const now = several(declared)
  const before = readFileSync(LIST, 'utf8').trimEnd().split('\n')
  const added = now.filter(name => !before.includes(name))
  if (process.env.UPDATE && added.length === 0) writeFileSync(LIST, `${now.join('\n')}\n`)
  else assert.deepEqual(added, [], `give these a name of their own: ${added.join(' ')}`)
})
