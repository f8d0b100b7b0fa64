import { createRpcSource } from '../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import type { Clock } from '../../src/lib/retry.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { type FakeNode, startNode } from '../../test/support/node.ts'
import type { Random } from '../lib/random.ts'
import { type Attack, brief, type Context, chance, type Finding, pick, tryEach } from './attack.ts'
import { ask, pause, type Victim } from './server.ts'
import { createBlockJudge, differences, honestBlocks, mutateWire } from './wire.ts'

const TRIES = 20_000
const PATIENCE_MS = 10_000
/** The share of answers that a node changes when it lies to a whole server. */
const LIES = 0.2

const METHODS = ['eth_getBlockByNumber', 'eth_getBlockReceipts', 'trace_block'] as const

const CONTRACT_METHODS: readonly string[] = ['eth_call', 'eth_getCode', 'eth_getStorageAt']

/** What is no answer to a list of calls; the calls' ids begin at any number. */
const GARBAGE = [
  '',
  ' ',
  '[]',
  '{}',
  'null',
  '[null]',
  '[{}]',
  '[[]]',
  '"x"',
  '0',
  '<html>',
  '[{"jsonrpc":"2.0","id":1,"result"',
  '{"jsonrpc":"2.0","id":null,"error":{}}',
  '{"jsonrpc":"2.0","id":null,"error":"x"}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":"x","message":{}}}',
  '[{"id":{},"result":1},{"id":[],"error":null}]',
  '[{"id":"__proto__","result":{"__proto__":null}}]',
  '['.repeat(100_000),
  '\ufeff[]',
  '\u0000',
]

/** The share of tries with garbage in place of an answer. */
const GARBLED = 0.05

/** A node that lies, asked first, and an honest one: what comes out is the honest chain, and soon. */
export const node: Attack = {
  name: 'node',
  is: 'a node that changes members of its answers, beside an honest one: honest blocks, asked for within two tries',
  async run(context) {
    const cleanUps: (() => Promise<void>)[] = []
    const scope = { after: (fn: () => Promise<void>) => void cleanUps.push(fn) }
    try {
      const blocks = honestBlocks()
      const [liar, honest] = [await startTracing(scope, blocks), await startTracing(scope, blocks)]
      const read = await readThrough(context, blocks, liar, honest)
      const served = await serveThrough(context, liar, honest)
      return { ...read, findings: [...read.findings, ...served] }
    } finally {
      for (const cleanUp of cleanUps) await cleanUp()
    }
  },
}

const startTracing = async (scope: Parameters<typeof startNode>[0], blocks: readonly RawBlock[]): Promise<FakeNode> => {
  const node = await startNode(scope, blocks)
  node.methods.set('trace_block', ([tag]) => structuredClone(node.blocks.get(Number(tag))?.traces ?? null))
  for (const method of CONTRACT_METHODS) node.methods.set(method, () => '0x')
  return node
}

/** Block after block by the code that asks nodes, with one answer of the first node changed. */
const readThrough = async (context: Context, blocks: readonly RawBlock[], liar: FakeNode, honest: FakeNode) => {
  const counts = { honest: 0, unseen: 0, wrong: 0 }
  const clock = createLeapingClock()
  const judge = createBlockJudge()
  const source = createRpcSource({ urls: [liar.url, honest.url], clock, traces: 'all' })
  const full = blocks.filter(({ block }) => block.transactions.length > 0)
  try {
    const made = await tryEach(context, TRIES, async ({ attempt, random: dice, find: found }) => {
      const wanted = pick(dice, full)
      const number = Number(wanted.block.number)
      const target = pick(dice, METHODS)
      let [lie, asked] = ['', 0]
      liar.lie = ({ method, params }, result) => {
        if (method !== target || Number(params[0]) !== number) return result
        asked++
        // The same lie again: it is one node.
        const { path, what, value } = mutateWire(result, context.random(attempt))
        lie = `${path}: ${what}`
        return value ?? null
      }
      const garbage = chance(dice, GARBLED) ? pick(dice, GARBAGE) : undefined
      liar.trouble = calls => {
        if (garbage === undefined || calls.every(({ method }) => method !== target)) return undefined
        asked++
        lie = `the whole answer is ${JSON.stringify(brief(garbage, 100))}`
        return { garbage }
      }
      clock.leap(3_600_000)
      const find = (what: string, more: string) => found(what, `block ${number}, ${target}, ${lie}: ${more}`)
      try {
        const got = await readOne(source, number)
        const verdict = judge.judge(wanted, got)
        counts[verdict.is]++
        if (verdict.is === 'wrong') find('a lie is taken for a block', verdict.why)
      } catch (error) {
        if (error instanceof ChainsieveError) find('an honest node is there, and there is no block', error.message)
        else
          find('an error that nobody foresaw', error instanceof Error ? (error.stack ?? error.message) : String(error))
      }
      if (asked > 2) find('the honest node is not asked within two tries', `the liar was asked ${asked} times`)
      for (const node of [liar, honest]) {
        node.calls.length = 0
        node.batches.length = 0
      }
    })
    const note = `${counts.honest} blocks came out as the honest ones, ${counts.unseen} with another value of the right form`
    return { ...made, notes: [note] }
  } finally {
    await source.close()
    judge.close()
  }
}

const readOne = async (source: ReturnType<typeof createRpcSource>, number: number): Promise<RawBlock> => {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  for await (const [block] of source.range({ from: number, to: number, order: 'oldest', run: 1, signal }))
    if (block !== undefined) return block
  throw new Error('the range ended without its block')
}

/** A clock that does not wait: time goes on by as much as was to be slept. */
const createLeapingClock = (): Clock & { leap(ms: number): void } => {
  let now = Date.now()
  return {
    now: () => now,
    elapsed: () => now,
    async sleep(ms, signal) {
      now += ms
      await new Promise<void>(resolve => setImmediate(resolve))
      signal?.throwIfAborted()
    },
    leap(ms) {
      now += ms
    },
  }
}

const NETWORK = 'ethereum/attack/chain'

/** A whole server between the two nodes holds in the end what one holds that asked the honest node alone. */
const serveThrough = async ({ serve, random }: Context, liar: FakeNode, honest: FakeNode): Promise<Finding[]> => {
  const dice = random(-1)
  let lies = 0
  liar.trouble = () => (chance(dice, GARBLED) ? { garbage: pick(dice, GARBAGE) } : undefined)
  liar.lie = ({ method }, result) => {
    // Of contracts anything may be true.
    if (CONTRACT_METHODS.includes(method) || !chance(dice, LIES)) return result
    const value = badly(result, dice)
    lies++
    return value ?? null
  }
  const start = (urls: readonly string[]) =>
    serve({
      packs: {},
      args: ['--network', NETWORK, '--from', '0', '--traces', 'all', ...urls.flatMap(url => ['--rpc', url])],
    })
  const alone = await start([honest.url])
  const wanted = await documentsOf(alone, honest.head)
  const between = await start([liar.url, honest.url])
  const got = await documentsOf(between, honest.head)
  const how = `serve --rpc LIAR --rpc HONEST, of whose answers ${lies} were changed`
  if (typeof wanted === 'string') throw new Error(`the honest chain is not indexed: ${wanted}`)
  if (typeof got === 'string') return [{ what: 'a node that lies stops a network', how: `${how}: ${got}` }]
  return KINDS.flatMap((kind, i) =>
    wanted[i] === got[i]
      ? []
      : [{ what: 'wrong documents are served', how: `${how}: of kind ${kind}: ${difference(wanted[i]!, got[i]!)}` }],
  )
}

const difference = (wanted: string, got: string): string => {
  let at = 0
  while (wanted[at] === got[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 200), at + 100)
  return `${around(got)} in place of ${around(wanted)}`
}

/** A change that no honest node would make, as another value of the right form cannot be told from the true one. */
const badly = (said: unknown, random: Random): unknown => {
  for (;;) {
    const { value } = mutateWire(said, random)
    if (value === undefined || differences(said, value, 'said').bad !== undefined) return value
  }
}

/** Every document by kind once all blocks are there, or why they are not. */
const documentsOf = async (victim: Victim, head: number): Promise<string[] | string> => {
  const search = (kind: string, body: string) =>
    ask(victim.port, `/${NETWORK}/es/${kind}/search/`, { token: victim.tokens[0], body, timeoutMs: 30_000 })
  const end = performance.now() + SERVE_MS
  let state = 'it does not serve'
  while (performance.now() < end && victim.alive() && !state.includes('"state":"stopped"')) {
    const { status, text } = await search('block', '{"size":0}')
    if (status === 200 && JSON.parse(text).hits.total > head) {
      const answers = await Promise.all(KINDS.map(kind => search(kind, '{"size":-1,"sort":"_doc"}')))
      const failed = answers.find(({ status }) => status !== 200)
      return failed ? `a ${failed.status}: ${failed.text}` : answers.map(({ text }) => text.replace(/"took":\d+/, ''))
    }
    state = (await ask(victim.port, '/status', { token: victim.tokens[0] })).text
    await pause(200)
  }
  return `not all blocks are there: ${brief(state, 1_000)}`
}

const SERVE_MS = 120_000
