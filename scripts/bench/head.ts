import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createBlocks } from '../../src/engine/blocks.ts'
import { openForReading } from '../../src/engine/open.ts'
import type { Db } from '../../src/sqlite/database.ts'
import { type Memory, startServer, watchUsage } from '../lib/program.ts'
import { generateBlocks } from './generate.ts'
import type { FromNode, NodeOptions, ToNode } from './node.ts'

/**
 * How fast blocks come in one by one at the head, each its own transaction: a server follows a node whose head jumps ahead,
 * and takes all there is as fast as it can.
 */
export interface HeadSpeed {
  alone: number
  /** Of a back-fill while nothing comes in at the head. */
  fillAlone: number
  beside: {
    head: number
    fill: number
    memory: Memory | undefined
  }
}

interface HeadOptions {
  program: string
  data: string
  network: string
  store: string
  seed: number
  /** Blocks at the head, for each of the two runs. */
  blocks: number
}

/** Adds blocks to the store. Undefined where the store's newest block is not the generator's. */
export const measureHead = async (options: HeadOptions): Promise<HeadSpeed | undefined> => {
  const { program, data, network, store, seed, blocks } = options
  const db = openForReading(store)
  try {
    const { first, tip } = ends(db)
    const [own] = generateBlocks({ seed, from: tip, count: 1 })
    if (own!.block.hash !== createBlocks(db).hash(tip)) return undefined
    const middle = Math.max(0, first - FILL_BLOCKS * blocks)
    // A back-fill that lasts longer than the head takes.
    const low = Math.max(0, middle - FILL_BLOCKS * blocks)
    const node = await startNode({
      seed,
      runs: [
        { from: low, count: first - low },
        { from: tip, count: 1 + 2 * blocks },
      ],
      head: tip,
    })
    try {
      const serve = (from: number) =>
        startServer(program, [
          ...['--data', data, '--port', '0', '--network', network, '--rpc', node.url],
          ...['--from', String(from), '--poll-interval', '50ms'],
        ])
      let server = await serve(first)
      await sleep(SETTLE_MS)
      node.head(tip + blocks)
      const alone = await watch(db, tip + blocks)
      await server.stop()

      server = await serve(middle)
      const fillAlone = await watchFill(db, middle)
      await server.stop()

      server = await serve(low)
      const usage = watchUsage(server)
      await node.asked(middle - 1)
      node.head(tip + 2 * blocks)
      const beside = await watch(db, tip + 2 * blocks, low)
      const memory = usage.stop()
      await server.stop()
      return { alone: alone.head, fillAlone, beside: { ...beside, memory } }
    } finally {
      node.close()
    }
  } finally {
    db.close()
  }
}

const FILL_BLOCKS = 4
const SETTLE_MS = 1000
const LOOK_MS = 10
const PATIENCE_MS = 120_000

const ends = (db: Db): { first: number; tip: number; blocks: number } =>
  db.prepare('SELECT min(first) AS first, max(last) AS tip, sum(last - first + 1) AS blocks FROM segment').get() as {
    first: number
    tip: number
    blocks: number
  }

/** Looks on until the head has come that far, or the back-fill down to `low` has come to its end. */
const watch = async (db: Db, target: number, low?: number): Promise<{ head: number; fill: number }> => {
  const before = ends(db)
  let start: { at: number; tip: number; blocks: number } | undefined
  let moved = performance.now()
  let last = before.tip
  for (;;) {
    const at = performance.now()
    const now = ends(db)
    if (now.tip > last) moved = at
    if (at - moved > PATIENCE_MS) throw new Error(`the head stays at block ${now.tip} and does not get to ${target}`)
    last = now.tip
    // Time runs from the first block on, so that how the node is polled plays no part.
    if (!start && now.tip > before.tip) start = { at, ...now }
    const filled = low !== undefined && now.first <= low
    if (start && (now.tip >= target || filled)) {
      const seconds = (at - start.at) / 1000
      const head = now.tip - start.tip
      return { head: head / seconds, fill: (now.blocks - start.blocks - head) / seconds }
    }
    await sleep(LOOK_MS)
  }
}

/** Looks on from the first commit of a back-fill to its last one; blocks a second. */
const watchFill = async (db: Db, low: number): Promise<number> => {
  const before = ends(db)
  let start: { at: number; blocks: number } | undefined
  for (;;) {
    const at = performance.now()
    const now = ends(db)
    if (!start && now.first < before.first) start = { at, ...now }
    if (start && now.first <= low) return ((now.blocks - start.blocks) * 1000) / (at - start.at)
    await sleep(LOOK_MS)
  }
}

const startNode = async (options: NodeOptions) => {
  const child = fork(fileURLToPath(new URL('node.ts', import.meta.url)), [JSON.stringify(options)])
  let lowest = Number.POSITIVE_INFINITY
  const ready = new Promise<string>((resolve, reject) => {
    child.on('message', (message: FromNode) => {
      if (message.type === 'ready') resolve(message.url)
      else lowest = Math.min(lowest, message.number)
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`the node ended with ${code}`)))
  })
  const url = await ready
  return {
    url,
    head: (head: number) => void child.send({ head } satisfies ToNode),
    /** Resolves when a block up to this number has been asked for. */
    async asked(number: number) {
      while (lowest > number) await sleep(LOOK_MS)
    },
    close: () => child.disconnect(),
  }
}
