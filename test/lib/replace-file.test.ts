import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { replaceFile } from '../../src/lib/files.ts'

test('a file is on the disk before it has its name, and its name before all is said to be done', t => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'chainsieve-replace-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const path = join(folder, 'kept.json')
  const done: string[] = []
  const { openSync, fsyncSync, renameSync } = fs
  const opened = new Map<number, string>()
  t.mock.method(fs, 'openSync', (file: string, ...how: unknown[]) => {
    const fd = (openSync as (...all: unknown[]) => number)(file, ...how)
    opened.set(fd, basename(file))
    return fd
  })
  t.mock.method(fs, 'fsyncSync', (fd: number) => {
    done.push(`sync ${opened.get(fd)}`)
    fsyncSync(fd)
  })
  t.mock.method(fs, 'renameSync', (from: string, to: string) => {
    done.push(`rename ${basename(from)} ${basename(to)}`)
    renameSync(from, to)
  })
  syncBuiltinESMExports()
  t.after(syncBuiltinESMExports)
  replaceFile(path, 'one')
  replaceFile(path, 'two')
  const folderSync = process.platform === 'win32' ? [] : [`sync ${basename(folder)}`]
  const once = ['sync kept.json.new', 'rename kept.json.new kept.json', ...folderSync]
  assert.deepEqual(done, [...once, ...once])
  assert.deepEqual([fs.readFileSync(path, 'utf8'), fs.readdirSync(folder)], ['two', ['kept.json']])
})
