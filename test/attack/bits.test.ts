import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bits } from '../../scripts/attack/bits.ts'
import { attack } from '../../scripts/attack/run.ts'

test('a store with damage gives honest answers or says that it is damaged, also after a kill', async () => {
  const { findings, notes } = await attack(bits, { seed: 7, count: 48, seconds: 60, program: '' })
  assert.deepEqual(findings, [])
  const [refused, harmless] = notes![0]!.match(/\d+/g)!.map(Number)
  assert.ok(refused! > 12 && harmless! > 5, `${refused} were refused, ${harmless} made no difference`)
})
