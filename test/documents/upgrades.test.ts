import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeEventTopics, type Hex, parseAbi } from 'viem'
import type { RawBlock } from '../../src/chain/wire.ts'
import { upgradesIn } from '../../src/documents/upgrades.ts'

const [A, B] = [`0x${'Aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
const abi = parseAbi([
  'event Upgraded(address indexed implementation)',
  'event AdminChanged(address previous, address next)',
  'event BeaconUpgraded(address indexed beacon)',
  'event ChangedMasterCopy(address copy)',
  'struct Cut { address facet; uint8 action; bytes4[] selectors; }',
  'event DiamondCut(Cut[] cut, address init, bytes data)',
])
const topicsOf = (eventName: (typeof abi)[number]['name'], args: object = {}) =>
  encodeEventTopics({ abi, eventName, args } as never) as Hex[]

test('upgrades are told by logs of Upgraded, and by those after which only the contract itself can tell', () => {
  const logs = [
    { address: A, topics: topicsOf('AdminChanged') },
    { address: A, topics: topicsOf('Upgraded', { implementation: B }) },
    { address: A, topics: topicsOf('Upgraded').slice(0, 1) },
    { address: B, topics: topicsOf('BeaconUpgraded', { beacon: B }) },
    { address: B, topics: [] },
    { address: B, topics: topicsOf('DiamondCut') },
    { address: A, topics: topicsOf('ChangedMasterCopy') },
  ]
  const receipts = [{ logs: logs.slice(0, 3) }, { logs: [] }, { logs: logs.slice(3) }]
  const transactions = receipts.map((_, transactionIndex) => ({ transactionIndex }))
  const raw = { block: { transactions }, receipts } as unknown as RawBlock
  assert.deepEqual(upgradesIn(raw), [
    { address: A.toLowerCase(), place: 1, implementation: B },
    { address: B, place: 3, implementation: null },
    { address: B, place: 5, implementation: null },
    { address: A.toLowerCase(), place: 6, implementation: null },
  ])
  // Of an excerpt, the logs say where they stand.
  const [log] = logs.slice(1)
  const excerpt = {
    block: { transactions: [{ transactionIndex: 4 }] },
    receipts: [{ logs: [{ ...log, logIndex: 9 }] }],
  }
  assert.deepEqual(
    upgradesIn(excerpt as unknown as RawBlock).map(({ place }) => place),
    [9],
  )
})
