import assert from 'node:assert/strict'
import { test } from 'node:test'
import { damage } from '../../scripts/attack/damage.ts'
import { attack, showFindings } from '../../scripts/attack/run.ts'

test('damage of any file, at any time, is told or makes no difference, and takes no good copy', async () => {
  const { findings, tries, notes } = await attack(damage, { seed: 7, count: 50, seconds: 120, program: '' })
  assert.equal(showFindings('damage', findings), '')
  assert.ok(tries >= 10, `${tries} tries`)
  assert.ok(notes!.some(note => note.includes('told')) && notes!.some(note => note.includes('harmless')))
})
