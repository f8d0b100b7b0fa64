import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawBlock } from '../../src/chain/wire.ts'
import { newestBlock } from '../../src/engine/blocks.ts'
import { openForReading } from '../../src/engine/open.ts'
import { folderToIndex, followJob, indexIn } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const BLOCK_MS = 200
const BEFORE = 20

/** Five blocks have one timestamp. */
const inSeconds = ({ block, ...rest }: RawBlock): RawBlock => ({
  ...rest,
  block: { ...block, timestamp: `0x${(1_700_000_000 + Math.floor(Number(block.number) / 5)).toString(16)}` },
})

test('blocks every 200 ms are followed with a lag of mostly two at most, though no pace was set', async t => {
  const chain = makeChain({ blocks: BEFORE + 11 }).map(inSeconds)
  const node = await startNode(t, chain.slice(0, BEFORE))
  const { data, store } = await folderToIndex(t)
  const job = followJob(node, { from: { block: 0 }, order: 'oldest', finality: 64 })
  const { pollMs: _, ...reach } = job.node
  const indexing = indexIn(t, data, { ...job, node: reach })
  const db = openForReading(store)
  t.after(() => void db.close())
  const newest = newestBlock(db)
  while (newest() < BEFORE - 1) await sleep(10)

  const lags: number[] = []
  for (let number = BEFORE, last = performance.now(); number < chain.length; ) {
    // Where the machine holds up this loop, those after it are as late.
    if (performance.now() - last >= BLOCK_MS) {
      node.extend([chain[number++]!])
      last = performance.now()
    }
    await sleep(10)
    // The pace is found out in the first blocks.
    if (number >= BEFORE + 5) lags.push(node.head - newest())
  }
  lags.sort((a, b) => a - b)
  // A machine that is busy with other tests holds up blocks now and then; test/chain/heads tells when each is asked for.
  assert.ok(lags[Math.floor(lags.length / 2)]! <= 2, `lags: ${lags.join(' ')}`)
  assert.equal(indexing.error(), null)
})
