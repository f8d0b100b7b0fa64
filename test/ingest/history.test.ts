import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatPackLine } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { writeCryo } from '../support/cryo.ts'
import { era1Of, toEra1 } from '../support/era1.ts'
import { contentsIn, folderToIndex, indexIn } from '../support/indexing.ts'
import { demoBlocks } from '../support/store.ts'

/** Without what no file of the form has: traces, and what anvil alone tells. */
const plain = demoBlocks()
  .slice(0, 30)
  .map(({ chainId, block, receipts }): RawBlock => ({ chainId: chainId!, block, receipts }))

const run = async (t: TestContext, data: string, files: string[], indexers: number) => {
  const options = { storeBatch: 7, indexers, sharing: { from: 0 } }
  const { blocks, logs, events, added } = await indexIn(t, data, { type: 'import', files }, options).ended
  return { blocks, logs, events, added }
}

/** What the pack of some blocks comes to, another form of them comes to. Returns the same import once more. */
const compare = async (
  t: TestContext,
  pack: readonly RawBlock[],
  indexers: number,
  write: (data: string) => Promise<string[]>,
) => {
  const due = await folderToIndex(t)
  const file = join(due.data, 'pack.ndjson')
  writeFileSync(file, pack.map(formatPackLine).join(''))
  const outcome = await run(t, due.data, [file], 1)
  assert.equal(outcome.blocks, pack.length)
  const { data, store } = await folderToIndex(t)
  const paths = await write(data)
  assert.deepEqual(await run(t, data, paths, indexers), outcome)
  assert.deepEqual(contentsIn(store), contentsIn(due.store))
  return () => run(t, data, paths, 1)
}

test('an era1 import comes to what the pack of the same blocks comes to', async t => {
  const told = plain.map(({ chainId, block, receipts }): RawBlock => {
    const size = `0x${(Number(block.size) + 1).toString(16)}`
    const strip = <T extends object>(value: T): T => {
      const { blockTimestamp, blobGasPrice, blobGasUsed, ...rest } = value as Record<string, unknown>
      return rest as T
    }
    return {
      ...(chainId !== undefined && { chainId }),
      block: { ...block, size, transactions: block.transactions.map(strip) },
      receipts: receipts.map(receipt => ({ ...strip(receipt), logs: receipt.logs.map(strip) })),
    }
  })
  const again = await compare(t, told, 2, async data => {
    const folder = join(data, 'era1')
    mkdirSync(folder)
    writeFileSync(join(folder, 'demo-00000-00000000.era1'), era1Of(plain.slice(0, 25).map(toEra1), 0))
    writeFileSync(join(folder, 'demo-00001-00000000.era1'), era1Of(plain.slice(25).map(toEra1), 25))
    return [folder]
  })
  assert.equal((await again()).blocks, 0)
})

test('an import from a folder of cryo comes to what a pack of what cryo keeps comes to', async t => {
  const keep = (value: object, ...names: string[]) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))
  const told = plain.map(
    ({ chainId, block, receipts }) =>
      ({
        chainId,
        block: {
          ...keep(block, 'hash', 'parentHash', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'number'),
          ...keep(block, 'gasUsed', 'extraData', 'logsBloom', 'timestamp', 'totalDifficulty', 'size', 'baseFeePerGas'),
          transactions: block.transactions.map(tx => ({
            ...keep(
              tx,
              'hash',
              'blockHash',
              'blockNumber',
              'transactionIndex',
              'from',
              'to',
              'value',
              'input',
              'nonce',
            ),
            ...keep(tx, 'gas', 'gasPrice', 'type', 'maxFeePerGas', 'maxPriorityFeePerGas'),
          })),
        },
        receipts: receipts.map(receipt => ({
          ...keep(receipt, 'transactionHash', 'transactionIndex', 'blockHash', 'blockNumber', 'gasUsed'),
          ...keep(receipt, 'cumulativeGasUsed', 'effectiveGasPrice', 'status'),
          logs: receipt.logs.map(({ blockTimestamp: _, ...log }) => log),
        })),
      }) as unknown as RawBlock,
  )
  await compare(t, told, 1, async data => {
    const folder = join(data, 'cryo')
    await writeCryo(folder, plain, { chunk: 15 })
    return [folder]
  })
})
