import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDecoding } from '../../../src/decode/decoding.ts'
import { openFunctions } from '../../../src/decode/functions.ts'
import { createRegistry, createTokenList, parseRegistry, parseTokens } from '../../../src/decode/registry.ts'
import type { Batch } from '../../../src/engine/documents/batch.ts'
import { openForWriting } from '../../../src/engine/open.ts'
import { createContracts } from '../../../src/ingest/contracts.ts'
import { createPreparer } from '../../../src/ingest/prepare.ts'
import { createTokens } from '../../../src/ingest/tokens.ts'
import { silent } from '../../../src/lib/log.ts'
import { generateBlocks } from '../generate.ts'

/** Decoded blocks in today's form, made once: the contestants differ only in how they store and read them. */
export interface Input {
  batches: Batch[]
  /** The blocks behind them, each a batch of its own, as at the head of a chain. */
  head: Batch[]
  blocks: number
  txs: number
  logs: number
  traces: number
  calls: number
}

export interface InputOptions {
  blocks: number
  seed: number
  traces: boolean
  /** Blocks of one batch, which is a segment. */
  run: number
  /** Blocks of the head. */
  head: number
}

const data = (name: string): URL => new URL(`../../../data/${name}`, import.meta.url)
const text = (name: string): string => readFileSync(data(name), 'utf8')

/** Decodes by the shipped registry, without a node to ask. */
const openPreparer = (path: string) => {
  const registry = createRegistry(parseRegistry(text('events.txt')))
  const list = createTokenList(parseTokens(text('tokens.txt')))
  const decoding = createDecoding(registry, openFunctions(readFileSync(data('functions.bin'))), [])
  return createPreparer({
    db: openForWriting(path),
    decodeLog: (log, at) => decoding.log(log, at),
    methodOf: (input, to, at) => decoding.methodOf(input, to, at),
    decodeCall: (to, input, at) => decoding.call(to, input, at),
    tokens: createTokens({
      listed: address => list.find(1, `0x${address}`),
      stored: () => undefined,
      call: undefined,
      log: silent,
    }),
    contracts: createContracts({
      state: undefined,
      readCode: () => null,
      abiOf: () => ({ name: null, source: null, probability: null }),
      log: silent,
    }),
    chainId: 1,
    bloomsChecked: true,
  })
}

export const makeInput = ({ blocks, seed, traces, run, head }: InputOptions): Input => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-layouts-'))
  const preparer = openPreparer(join(folder, 'dictionaries.sqlite'))
  const input: Input = { batches: [], head: [], blocks, txs: 0, logs: 0, traces: 0, calls: 0 }
  const source = generateBlocks({ seed, count: blocks + head, traces })
  const batchOf = (size: number): Batch => {
    const building = preparer.start()
    while (building.blocks < size) {
      const { value, done } = source.next()
      if (done) break
      building.add(preparer.decode(value))
    }
    return building.finish()
  }
  for (let left = blocks; left > 0; left -= run) {
    const batch = batchOf(Math.min(run, left))
    input.batches.push(batch)
    for (const count of ['txs', 'logs', 'traces', 'calls'] as const) input[count] += batch[count]
  }
  for (let i = 0; i < head; i++) input.head.push(batchOf(1))
  rmSync(folder, { recursive: true })
  return input
}
