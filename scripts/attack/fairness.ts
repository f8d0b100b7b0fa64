import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Agent, type Dispatcher } from 'undici'
import { storeFile } from '../../src/store/files.ts'
import { fill, generatePack } from '../bench/fill.ts'
import { createToken, startServer, watchUsage } from '../bench/program.ts'
import { type Times, timesOf } from '../bench/times.ts'

const USAGE = `Measures whether one account's dear queries hold up another account's cheap ones.

node scripts/attack/fairness.ts [--program FILE] [--data DIR] [--seconds N]

--program  what is attacked (default dist/chainsieve.mjs)
--data     data folder with a filled store; without it one of 126,000 transactions is made
--seconds  how long each attack lasts (default 15)`

/** A running server, and who asks it. */
export interface Ground {
  url: string
  /** `technology/blockchain/network` of a store with transactions. */
  network: string
  /** Tokens of two accounts. */
  attacker: string
  victim: string
}

/** What the other account saw meanwhile, in milliseconds. */
export interface Seen {
  attack: string
  term: Watched
  health: Watched
  status: Watched
  /** How the attacker's requests ended, by status. */
  attacks: Record<string, number>
}

export interface Watched extends Times {
  failed: number
}

/** Attacks one after the other; each is asked over 8 connections for so long. */
export const measureFairness = async (ground: Ground, seconds: number): Promise<Seen[]> => {
  const seen: Seen[] = []
  for (const [attack, path, body] of attacks(ground))
    seen.push(await underAttack(ground, { attack, path, body }, seconds))
  return seen
}

const CONNECTIONS = 8
const EVERY_MS = 20

const ranges = (count: number) => Array.from({ length: count }, (_, i) => ({ range: { 'gas.num': { gt: 1e9 + i } } }))
const mustNot = (count: number) => ({ size: 1, query: { bool: { must_not: ranges(count) } } })

const attacks = ({ network }: Ground): [attack: string, path: string, body: object | undefined][] => {
  const search = (entity: string) => `/${network}/es/${entity}/search`
  const sorts = (count: number) => ({ size: 1, sort: Array.from({ length: count }, () => 'gas.num') })
  return [
    ['nothing', search('tx'), undefined],
    ['200 sorts', search('tx'), sorts(200)],
    ['as many sorts as are allowed', search('tx'), sorts(16)],
    ['10,000 ranges under must_not', search('tx'), mustNot(10_000)],
    ['as many ranges as are allowed', search('tx'), mustNot(4_000)],
    ['a scan of rendered texts', search('event'), { query: { range: { str: { gte: 'zzz' } } } }],
    ['streams that nobody reads', search('tx'), { size: -1, sort: 'input' }],
  ]
}

const underAttack = async (
  { url, network, attacker, victim }: Ground,
  { attack, path, body }: { attack: string; path: string; body: object | undefined },
  seconds: number,
): Promise<Seen> => {
  const ending = new AbortController()
  const agent = new Agent({ connections: 1_000, headersTimeout: 0, bodyTimeout: 0 })
  const ask = (path: string, token: string, body?: string | undefined, signal?: AbortSignal) =>
    agent.request({
      ...{ origin: url, path, method: body === undefined ? 'GET' : 'POST', body: body ?? null, signal: signal ?? null },
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
  const one = await ask(`/${network}/es/tx/search`, victim, JSON.stringify({ size: 1 }))
  const { hits } = (await one.body.json()) as { hits: { hits: { _id: string }[] } }
  const term = JSON.stringify({ query: { term: { _id: hits.hits[0]!._id } } })

  const answers = new Map<string, number>()
  const held: Dispatcher.ResponseData[] = []
  const attackOnce = async (text: string) => {
    let status: string
    try {
      const answer = await ask(path, attacker, text, ending.signal)
      status = String(answer.statusCode)
      const isHeld = attack.startsWith('streams') && answer.statusCode === 200
      if (isHeld) held.push(answer)
      else await answer.body.dump({ limit: 1e9 })
    } catch (error) {
      status = (error as { code?: string }).code ?? 'failed'
    }
    if (!ending.signal.aborted) answers.set(status, (answers.get(status) ?? 0) + 1)
  }
  const attackers = Array.from({ length: body === undefined ? 0 : CONNECTIONS }, async () => {
    const text = JSON.stringify(body)
    while (!ending.signal.aborted) {
      await attackOnce(text)
      await sleep(held.length > 100 ? 1_000 : 1)
    }
  })

  const times = { term: createTimes(), health: createTimes(), status: createTimes() }
  const until = performance.now() + seconds * 1000
  const asking: Promise<void>[] = []
  if (body !== undefined) await sleep(300)
  for (let i = 0; performance.now() < until; i++) {
    asking.push(times.term.take(() => ask(`/${network}/es/tx/search`, victim, term)))
    if (i % 5 === 0) asking.push(times.health.take(() => ask('/health', victim)))
    if (i % 25 === 0) asking.push(times.status.take(() => ask('/status', victim)))
    await sleep(EVERY_MS)
  }
  await Promise.race([Promise.all(asking), sleep(20_000)])
  ending.abort()
  for (const { body } of held) body.destroy()
  await Promise.all(attackers)
  await agent.destroy()
  return {
    attack,
    term: times.term.seen(),
    health: times.health.seen(),
    status: times.status.seen(),
    attacks: Object.fromEntries(answers),
  }
}

const createTimes = () => {
  const taken: number[] = []
  let asked = 0
  let failed = 0
  return {
    async take(ask: () => Promise<Dispatcher.ResponseData>) {
      asked++
      const start = performance.now()
      try {
        const { statusCode, body } = await ask()
        await body.dump()
        if (statusCode !== 200) failed++
      } catch {
        failed++
      }
      taken.push(performance.now() - start)
    },
    seen: (): Watched => ({ ...timesOf(taken), failed: failed + asked - taken.length }),
  }
}

const NETWORK = 'ethereum/ethereum/mainnet'

export const main = async (args: string[]): Promise<void> => {
  const { values } = parseArgs({
    args,
    options: {
      program: { type: 'string', default: 'dist/chainsieve.mjs' },
      data: { type: 'string' },
      seconds: { type: 'string', default: '15' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const program = resolve(values.program)
  const temporary = mkdtempSync(join(tmpdir(), 'chainsieve-fairness-'))
  try {
    const data = resolve(values.data ?? join(temporary, 'data'))
    if (values.data === undefined) {
      const pack = join(temporary, 'pack.ndjson')
      await generatePack(pack, { events: 252_000, seed: 1 })
      await fill({ program, data, network: NETWORK, pack, store: storeFile(data, NETWORK) })
    }
    const attacker = await createToken(program, data, 'attacker')
    const victim = await createToken(program, data, 'victim')
    const server = await startServer(program, ['--data', data, '--port', '0'])
    const usage = watchUsage(server, 100)
    const ground = { url: server.url, network: NETWORK, attacker, victim }
    for (const { attack, attacks, ...seen } of await measureFairness(ground, Number(values.seconds))) {
      console.log(`${attack}: ${JSON.stringify(attacks)}`)
      for (const [what, { runs, failed, p50, p99, max }] of Object.entries(seen)) {
        const [typical, worst, most] = [p50, p99, max].map(ms => `${ms.toFixed(1)} ms`)
        console.log(`  ${what.padEnd(6)} p50 ${typical}, p99 ${worst}, most ${most} (${failed} of ${runs} failed)`)
      }
    }
    const memory = usage.stop()
    console.log(`memory: ${Math.round((memory?.peak ?? 0) / 1e6)} MB at most`)
    await server.stop()
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

if (import.meta.main) await main(process.argv.slice(2))
