import assert from 'node:assert/strict'
import { it } from 'node:test'
import { restOfTx } from '../../src/documents/rest.ts'

it('shows the type of a receipt only where it is another number than that of the transaction', () => {
  for (const type of [2, '0x2', '0x02', 'legacy']) assert.equal(restOfTx({ type: '0x2' }, { type }), undefined)
  assert.equal(JSON.stringify(restOfTx({ type: '0x2' }, { type: '0x1' })?.extra), '{"receipt":{"type":"0x1"}}')
})
