import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { RawBlock } from '../../src/chain/wire.ts'
import { type FakeNode, startNode, type Trouble } from '../../test/support/node.ts'
import { createToken, freePort, until } from '../lib/program.ts'
import { createRandom } from '../lib/random.ts'
import { createLiveChain, type LiveChain } from './chain.ts'
import { compareDocuments } from './documents.ts'
import { lagOf, lookAt, type Sample, sizesOf } from './judge.ts'
import { queriesAt } from './queries.ts'
import { auditAlerts, type FlakyReceiver, startFlakyReceiver } from './receiver.ts'
import { CONFIRMATIONS, createRules, dueOf, EARLY } from './rules.ts'
import { createSoaked, type Soaked } from './server.ts'

const NETWORK = 'ethereum/soak/chain'
const FIRST_BLOCK = 22_600_000

interface SoakOptions {
  program: string
  milliseconds: number
  blockMs: number
  /** Blocks that are kept; older ones are pruned. */
  keep: number
  seed: number
  /** How often the server is killed, each time up to three times in a row. */
  kills: number
  note(text: string): void
}

export interface Soak {
  samples: Sample[]
  findings: string[]
  counts: Record<
    | 'blocks'
    | 'reorganisations'
    | 'kills'
    | 'backups'
    | 'queries'
    | 'alerts'
    | 'repeated'
    | 'late'
    | 'failedOnPurpose'
    | 'documents',
    number
  >
}

const QUERY_GAP_MS = 200
const REORGANISE_MS = 20_000
const NODE_TROUBLE_MS = 45_000
/** Longest time after the last block until every alert has arrived. */
const SETTLE_MS = 180_000
const LEAST_SAMPLE_MS = 500
const SAMPLES = 360

export const soak = async (options: SoakOptions): Promise<Soak> => {
  const { program, milliseconds, blockMs, keep, seed, note } = options
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-soak-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  const cleanUps: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })]
  const findings: string[] = []
  const samples: Sample[] = []
  const counts = {
    ...{ blocks: 0, reorganisations: 0, kills: 0, backups: 0, queries: 0 },
    ...{ alerts: 0, repeated: 0, late: 0, failedOnPurpose: 0, documents: 0 },
  }
  try {
    const random = createRandom()
    random.seek(seed, 1, 1, 1)
    const chain = createLiveChain(FIRST_BLOCK, seed)
    chain.grow(keep)
    const node = await startChainNode(chain, cleanUps)
    const receiver = await startFlakyReceiver()
    cleanUps.push(() => receiver.close())
    const token = await createToken(program, data, 'soak')
    const server = createSoaked(program, token, await freePort(), serveArgs(data, node, keep))
    cleanUps.push(() => server.stop())
    await server.start()
    await until(async () => lagOf(await server.status()) === 0, 60_000, 'the first blocks')
    const dead = `http://127.0.0.1:${await freePort()}/`
    const starts = await createRules(server, NETWORK, receiver.url, dead, chain.tip())

    const start = Date.now()
    const end = start + milliseconds
    const goesOn = () => Date.now() < end
    const every = async (ms: () => number, work: () => unknown) => {
      while (goesOn()) {
        await sleep(Math.min(ms(), Math.max(0, end - Date.now())))
        if (goesOn()) await work()
      }
    }
    const jitter = (ms: number) => () => ms * (0.5 + random.unit())

    await Promise.all([
      every(
        () => blockMs,
        () => void chain.grow(1),
      ),
      every(jitter(Math.min(REORGANISE_MS, milliseconds / 5)), () => {
        counts.reorganisations++
        chain.reorganise(1 + random.below(CONFIRMATIONS - 1))
      }),
      every(jitter(Math.min(NODE_TROUBLE_MS, milliseconds / 4)), () =>
        troubleFor(node, 1_000 + random.below(3_000), random.below(4)),
      ),
      ask(server, chain, goesOn, findings, counts),
      every(
        () => Math.max(LEAST_SAMPLE_MS, milliseconds / SAMPLES),
        () => take(samples, server, data, start, receiver, counts),
      ),
      kills(milliseconds, options.kills, every, server, chain, random, note),
      every(
        () => milliseconds / 4,
        async () => {
          await backUp(program, data, join(folder, 'backup'), findings)
          counts.backups++
        },
      ),
    ])
    note('Waits for what is under way')
    receiver.recover()
    chain.grow(CONFIRMATIONS + 1)
    const due = await dueOf(chain, starts)
    await settle(server, chain, receiver, due, findings)
    await sleep(2_000)

    const audit = auditAlerts({ taken: receiver.taken, due, early: EARLY, kills: server.kills, limitMs: LIMIT_MS })
    findings.push(...audit.findings)
    note('Compares documents with those of the node')
    const ranges = (await server.status())?.networks[0]?.ranges ?? []
    if (ranges.length !== 1 || ranges[0]!.to !== chain.tip())
      findings.push(`the blocks ${JSON.stringify(ranges)} are stored, and ${chain.tip()} is the newest`)
    for (const { from, to } of ranges) {
      const compared = await compareDocuments(server, NETWORK, chain, from, to)
      findings.push(...compared.findings)
      counts.documents += compared.documents
    }
    await server.stop()
    await check(program, ['verify', '--deep', '--data', data], findings)
    await check(program, ['restore', '--check', join(folder, 'backup'), '--data', join(folder, 'restored')], findings)
    Object.assign(counts, {
      blocks: chain.tip() - FIRST_BLOCK - keep,
      kills: server.kills.length,
      alerts: receiver.taken.length,
      repeated: audit.repeated,
      late: audit.late,
      failedOnPurpose: receiver.failed(),
    })
    return { samples, findings, counts }
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
}

const LIMIT_MS = 3_000

const serveArgs = (data: string, node: FakeNode, keep: number): string[] => [
  ...['--data', data, '--network', NETWORK, '--rpc', node.url, '--from', `latest-${keep}`],
  ...['--poll-interval', '200ms', '--keep-blocks', String(keep), '--keep-alerts', '2m', '--keep-deliveries', '2m'],
  ...['--allow-target', '127.0.0.0/8', '--delivery-timeout', `${LIMIT_MS}ms`, '--request-timeout', '2s'],
  ...[1, 1, 2, 3, 5, 5, 5, 5, 10, 10, 10, 10].flatMap(seconds => ['--delivery-retries', `${seconds}s`]),
]

export const startChainNode = async (chain: LiveChain, cleanUps: (() => unknown)[]): Promise<FakeNode> => {
  const node = await startNode({ after: fn => void cleanUps.push(fn) })
  node.chainId = 1
  node.blocks = Object.assign(new Map<number, RawBlock>(), { get: (number: number) => chain.block(number) })
  Object.defineProperty(node, 'head', { get: () => chain.tip() })
  for (const method of ['eth_call', 'eth_getCode', 'eth_getStorageAt']) node.methods.set(method, () => '0x')
  node.trouble = () => {
    node.calls.length = 0
    node.batches.length = 0
    return undefined
  }
  return node
}

const TROUBLES: readonly Trouble[] = [{ status: 503 }, 'reset', { garbage: '<html>' }, 'hang']

const troubleFor = async (node: FakeNode, ms: number, which: number) => {
  const well = node.trouble
  node.trouble = () => TROUBLES[which]
  await sleep(ms)
  node.trouble = well
}

/** Asks one query after the other; those that a kill cut off do not count. */
const ask = async (
  server: Soaked,
  chain: LiveChain,
  goesOn: () => boolean,
  findings: string[],
  counts: Soak['counts'],
) => {
  for (let i = 0; goesOn(); i++) {
    await sleep(QUERY_GAP_MS)
    const at = Date.now()
    if (!server.servedSince(at)) continue
    const { block, receipts } = chain.block(chain.tip() - 2)!
    const queries = queriesAt(chain.tip(), block.transactions[0]!.from, receipts.flatMap(it => it.logs)[0]!.address)
    const { name, entities, body } = queries[i % queries.length]!
    try {
      const answer = await server.ask(`/${NETWORK}/es/${entities}/search`, body)
      const text = await answer.text()
      if (answer.status !== 200) findings.push(`${name}: answered with ${answer.status}: ${text.slice(0, 500)}`)
      else JSON.parse(text)
      counts.queries++
    } catch (error) {
      if (server.servedSince(at)) findings.push(`${name}: ${String(error)}`)
    }
  }
}

const take = async (
  samples: Sample[],
  server: Soaked,
  data: string,
  start: number,
  receiver: FlakyReceiver,
  counts: Soak['counts'],
) => {
  const since = server.servesSince()
  if (since === undefined) return
  const lag = lagOf(await server.status())
  const seen = lookAt(server.pid())
  if (seen === undefined || server.servesSince() !== since) return
  const now = Date.now()
  samples.push({
    ...{ at: now - start, life: server.life(), age: now - since, lag, ...seen, ...sizesOf(data) },
    ...{ delivered: receiver.taken.length, answered: counts.queries },
  })
}

/** A few kills one after the other, then quiet for a while. */
const kills = async (
  milliseconds: number,
  times: number,
  every: (ms: () => number, work: () => unknown) => Promise<void>,
  server: Soaked,
  chain: LiveChain,
  random: ReturnType<typeof createRandom>,
  note: (text: string) => void,
) => {
  await every(
    () => milliseconds / (times + 1),
    async () => {
      const inARow = 1 + random.below(3)
      note(`Kills the server, ${inARow} times in a row`)
      for (let i = 0; i < inARow; i++) {
        await sleep(random.below(1_500))
        await server.kill()
        // The chain goes on, so that there is something to fill.
        chain.grow(random.below(12))
        await server.start()
      }
    },
  )
}

const backUp = (program: string, data: string, folder: string, findings: string[]) =>
  check(program, ['backup', folder, '--data', data], findings)

const check = async (program: string, args: readonly string[], findings: string[]) => {
  try {
    await promisify(execFile)(process.execPath, [program, ...args], { maxBuffer: 1e8 })
  } catch (error) {
    const { stderr, stdout } = error as { stderr?: string; stdout?: string }
    findings.push(`chainsieve ${args.join(' ')}: ${(stderr || stdout || String(error)).slice(-1_000)}`)
  }
}

/** Until the head is stored and every alert that is due was taken. */
const settle = async (
  server: Soaked,
  chain: LiveChain,
  receiver: FlakyReceiver,
  due: ReadonlyMap<string, ReadonlySet<string>>,
  findings: string[],
) => {
  const isSettled = async () => {
    const last = (await server.status())?.networks[0]?.ranges.at(-1)?.to
    if (last !== chain.tip()) return false
    const taken = new Set(receiver.taken.map(({ rule, document }) => `${rule} ${document}`))
    return [...due].every(([rule, documents]) => [...documents].every(it => taken.has(`${rule} ${it}`)))
  }
  await until(isSettled, SETTLE_MS, 'the last alerts').catch(error => findings.push(String(error)))
}
