import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import type { RawBlock } from '../../src/chain/wire.ts'
import { refuse } from '../../src/lib/errors.ts'
import { runMain, wholeNumber } from '../lib/flags.ts'
import { createChain } from './chain.ts'

export interface GenerateOptions {
  /** A 32-bit number. The same seed gives the same bytes; any block can be had without those before it. */
  seed: number
  /** Number of the first block; default one of May 2025, so that all numbers have mainnet's size. */
  from?: number
  /** Number of blocks; default without end. */
  count?: number
  /** Ends with the block that brings the logs up to this number, if `count` does not end it before. */
  events?: number
  chainId?: number
  /** Whether blocks carry their traces, seven a transaction; the rest of them is the same either way. Default false. */
  traces?: boolean
}

export const FIRST_BLOCK = 22_600_000

/** Mainnet-shaped blocks, each the child of the one before: 150 transactions and 300 logs on average. */
export function* generateBlocks(options: GenerateOptions): Generator<RawBlock, void> {
  const { seed, from = FIRST_BLOCK, count, events, chainId = 1, traces = false } = options
  checkNumber('seed', seed, 2 ** 32 - 1)
  checkNumber('from', from, 2 ** 31 - 1)
  checkNumber('chainId', chainId, 2 ** 48)
  if (count !== undefined) checkNumber('count', count, 2 ** 31 - from)
  if (events !== undefined) checkNumber('events', events, Number.MAX_SAFE_INTEGER)
  const chain = createChain({ seed, chainId, traces })
  const end = Math.min(2 ** 31, from + (count ?? Number.POSITIVE_INFINITY))
  let logs = 0
  for (let number = from; number < end && logs < (events ?? Number.POSITIVE_INFINITY); number++) {
    const block = chain.block(number)
    for (const receipt of block.receipts) logs += receipt.logs.length
    yield block
  }
}

/** The same as lines of a block pack, line feeds included. */
export function* generateLines(options: GenerateOptions): Generator<Buffer<ArrayBuffer>, void> {
  for (const block of generateBlocks(options)) yield Buffer.from(`${JSON.stringify(block)}\n`, 'latin1')
}

const checkNumber = (name: string, value: number, most: number) => {
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return
  throw refuse('bad_option', `${name} must be an integer from 0 to ${most}, not ${value}`)
}

const USAGE = `Writes a block pack of made-up blocks shaped like Ethereum's.

node scripts/bench/generate.ts --events N --out FILE [--seed S] [--from BLOCK] [--blocks N] [--chain-id N] [--traces]

A million logs take about 1.9 GB, with --traces 4.1 GB, as --out FILE.gz a fifth of it.`

/** Runs the command line and returns what it did, in one line. */
export const main = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: 'string' },
      blocks: { type: 'string' },
      seed: { type: 'string', default: '1' },
      from: { type: 'string', default: String(FIRST_BLOCK) },
      'chain-id': { type: 'string', default: '1' },
      out: { type: 'string' },
      traces: { type: 'boolean', default: false },
    },
  })
  const { out, events, blocks } = values
  if (out === undefined || (events === undefined && blocks === undefined)) {
    throw refuse('missing_option', `--out and one of --events and --blocks are due\n\n${USAGE}`)
  }
  const lines = generateLines({
    seed: wholeNumber('seed', values.seed),
    from: wholeNumber('from', values.from),
    chainId: wholeNumber('chain-id', values['chain-id']),
    traces: values.traces,
    ...(blocks !== undefined && { count: wholeNumber('blocks', blocks) }),
    ...(events !== undefined && { events: wholeNumber('events', events) }),
  })
  const start = performance.now()
  let written = 0
  let bytes = 0
  const counted = function* (first: IteratorResult<Buffer, void>) {
    for (let line = first; !line.done; line = lines.next()) {
      written++
      bytes += line.value.length
      yield line.value
    }
  }
  // The first line is made before the file: bad options leave no empty file behind.
  const source = Readable.from(counted(lines.next()))
  const file = createWriteStream(out)
  if (out.endsWith('.gz')) await pipeline(source, createGzip({ level: 1 }), file)
  else await pipeline(source, file)
  const seconds = (performance.now() - start) / 1000
  return `${out}: ${written} blocks, ${(bytes / 1e6).toFixed(1)} MB of JSON in ${seconds.toFixed(1)} s`
}

if (import.meta.main) runMain(async () => console.log(await main(process.argv.slice(2))))
