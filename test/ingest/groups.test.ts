import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { readPackLines } from '../../src/chain/files/pack.ts'
import { createGroupReader } from '../../src/ingest/decoding/builders/pool.ts'
import { dataFolder } from '../support/delivery.ts'

test('groups hold all lines of a pack that are not blank, in their order, in memory that is used again', async t => {
  const path = join(await dataFolder(t), 'pack')
  const line = fc.oneof(
    fc.constantFrom('', ' ', '\t \r'),
    fc.string({ minLength: 1, maxLength: 90, unit: 'binary-ascii' }),
  )
  const lines = fc.array(
    line.map(text => text.replaceAll('\n', '.')),
    { maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 200 }),
      async (lines, most, bytes) => {
        writeFileSync(path, lines.join('\n'))
        const due: [number, string][] = []
        try {
          for await (const { line, bytes } of readPackLines(path)) due.push([line, Buffer.from(bytes).toString()])
        } catch {
          assert.equal(due.length, 0)
          return
        }
        const found: [number, string][] = []
        const read = createGroupReader(most, bytes)
        // Each group is looked at when the next ones are read already.
        const held: (() => void)[] = []
        for await (const group of read({ form: 'pack', path, size: 0 }, {})) {
          assert.ok(group.lines.length > 0 && group.lines.length <= most)
          const size = group.lines.reduce((sum, { bytes }) => sum + bytes.length, 0)
          assert.ok(size <= bytes || group.lines.length === 1, `${size}`)
          held.push(() => {
            for (const { line, bytes } of group.lines) found.push([line, Buffer.from(bytes).toString()])
            group.release()
          })
          if (held.length > 3) held.shift()!()
        }
        for (const take of held) take()
        assert.deepEqual(found, due)
      },
    ),
    { numRuns: 150, seed: 4 },
  )
})
