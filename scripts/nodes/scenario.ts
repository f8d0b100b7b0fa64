import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Relay, startRelay } from '../../test/support/relay.ts'
import { createToken, freePort, startProgram } from '../lib/program.ts'
import { auditAlerts, startFlakyReceiver, type Taken } from '../soak/receiver.ts'
import { createSoaked, type Soaked } from '../soak/server.ts'
import { compareDocuments } from './compare.ts'
import type { RealNode } from './nodes.ts'
import { type Reading, readChain } from './reading.ts'
import { ABI, createTraffic } from './traffic.ts'

export interface Outcome {
  findings: string[]
  /** Of each way by which the node is reached. */
  ways: { way: string; values: number; slowestMs: number; alerts: number; retracted: number }[]
  blocks: number
}

interface ScenarioOptions {
  program: string
  node: RealNode
  /** Blocks before the server starts. */
  history: number
  milliseconds: number
  note(text: string): void
}

const DEPTHS = [1, 3, 6]
/** More than blocks are taken back, and no more than finality. */
const CONFIRMATIONS = 7
/** A block of the head has to be stored within this time. */
const LATE_MS = 3_000
const RULES = {
  block: { confirmations: 0, targetType: 'Block', condition: { name: 'number', operator: 'Greater', value: '0' } },
  deep: {
    ...{ confirmations: CONFIRMATIONS, targetType: 'Block' },
    condition: { name: 'number', operator: 'Greater', value: '0' },
  },
  failed: {
    ...{ confirmations: CONFIRMATIONS, targetType: 'Transaction' },
    condition: { name: 'status', operator: 'Equals', value: 'false' },
  },
  transfer: {
    ...{ confirmations: 0, targetType: 'Event' },
    condition: { name: 'event', operator: 'Equals', value: 'Transfer' },
  },
} as const

type Rule = keyof typeof RULES
const EARLY = new Set(Object.entries(RULES).flatMap(([name, rule]) => (rule.confirmations === 0 ? [name] : [])))

/** One server follows one node by all ways at once, each as a network of its own. */
export const runScenario = async ({
  program,
  node,
  history,
  milliseconds,
  note,
}: ScenarioOptions): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-nodes-'))
  const cleanUps: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })]
  const after = { after: (fn: () => unknown) => void cleanUps.push(fn) }
  const findings: string[] = []
  try {
    const data = join(folder, 'data')
    mkdirSync(data)
    const headOf = async () => Number(await node.call('eth_blockNumber'))
    const act = await createTraffic(node)
    note(`makes ${history} blocks`)
    while ((await headOf()) < history) {
      await act()
      await sleep(900)
    }
    const [pruned, limited, liar] = (await Promise.all([1, 2, 3].map(() => startRelay(after, node.url)))) as [
      Relay,
      Relay,
      Relay,
    ]
    pruned.prunedBelow = Math.floor(history / 2)
    limited.callsPerSecond = 30
    limited.retryAfter = '1'
    const ways: Record<string, string[]> = {
      ...{ http: [node.url], ws: [node.wsUrl], ...(node.ipc && { ipc: [node.ipc] }) },
      ...{ pruned: [pruned.url], limited: [limited.url], lying: [liar.url, node.url] },
    }
    const networks = Object.keys(ways).map(way => `ethereum/${node.name}/${way}`)
    const config = join(folder, 'chainsieve.toml')
    const traces = node.hasTraces ? 'all' : 'off'
    writeFileSync(
      config,
      Object.entries(ways)
        .map(([way, rpc]) => networkOf(node.name, way, rpc, traces))
        .join('\n'),
    )

    const receiver = await startFlakyReceiver()
    receiver.recover()
    cleanUps.push(() => receiver.close())
    const token = await createToken(program, data, 'nodes')
    const abis = join(folder, 'abis')
    mkdirSync(abis)
    writeFileSync(join(abis, 'contracts.json'), JSON.stringify(ABI))
    writeFileSync(join(abis, 'other.json'), '{"name": "no ABI"}')
    await startProgram(program, ['abi', 'add', abis, '--data', data]).ended
    const args = ['--config', config, '--data', data, '--allow-target', '127.0.0.0/8']
    const server = createSoaked(program, token, await freePort(), args)
    cleanUps.push(() => server.stop())
    await server.start()
    note(`follows ${node.name} by ${Object.keys(ways).join(', ')}`)
    await reached(server, history, 60_000, findings)
    const starts = new Map<string, number>()
    for (const network of networks) await createRules(server, network, receiver.url, starts)

    const lateness = watchHead(node, server, networks)
    const end = Date.now() + milliseconds
    const lies = { from: Date.now() + milliseconds * 0.1, to: Date.now() + milliseconds * 0.9 }
    liar.lie = ({ method }, result) =>
      Date.now() < lies.from || Date.now() > lies.to ? result : falsify(method, structuredClone(result))
    for (const depth of [...DEPTHS, 0]) {
      const next = end - milliseconds * (1 - (DEPTHS.indexOf(depth) + 1 || DEPTHS.length + 1) / (DEPTHS.length + 1))
      while (Date.now() < next) {
        await act()
        await sleep(700)
      }
      if (depth === 0) break
      note(`takes ${depth} blocks back`)
      await node.reorganise(depth)
      lateness.forget()
    }
    const to = await headOf()
    note(`waits for block ${to} and its confirmations`)
    const slowest = await lateness.stop(to + CONFIRMATIONS + 1)
    await reached(server, to + CONFIRMATIONS + 1, 60_000, findings)

    note('reads the chain by viem, and compares')
    const reading = await readChain(node, 0, to)
    const outcome: Outcome = { findings, ways: [], blocks: to + 1 }
    const missing = new Map((await server.status())?.networks.map(it => [it.network, it.ranges[0]?.from ?? 0]))
    const taken = await settled(receiver.taken, networks, reading, starts, to)
    const later = await readChain(node, to + 1, await headOf())
    for (const network of networks) {
      const way = network.split('/').at(-1)!
      const from = missing.get(network) ?? 0
      if (way === 'pruned' ? from !== pruned.prunedBelow : from !== 0) findings.push(`${network} begins at ${from}`)
      const compared = await compareDocuments(server, network, reading, from, to)
      findings.push(...compared.findings)
      const own = ofNetwork(taken(), network).filter(({ document }) => !later.numbers.has(document))
      const audit = auditAlerts({ taken: own, due: dueOf(reading, starts, network, to), ...AUDIT })
      findings.push(...audit.findings.map(finding => `${network}: ${finding}`))
      const slowestMs = slowest.get(network) ?? 0
      if (slowestMs > LATE_MS) findings.push(`${network}: a block of the head was stored after ${slowestMs} ms`)
      const retracted = own.filter(({ type }) => type === 'alert.retracted').length
      if (retracted === 0) findings.push(`${network}: no alert was retracted, though blocks were lost`)
      outcome.ways.push({ way, values: compared.values, slowestMs, alerts: own.length, retracted })
    }
    if (limited.refused === 0) note('the limit of 30 calls a second was never reached')
    return outcome
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
}

const AUDIT = { early: EARLY, kills: [], limitMs: 10_000 }

const networkOf = (name: string, way: string, rpc: readonly string[], traces: string) =>
  `[[networks]]\nnetwork = "ethereum/${name}/${way}"\nrpc = ${JSON.stringify(rpc)}\ntraces = "${traces}"\nfinality = 8\nstale-after = "0s"\n`

/** Waits until all networks hold a block, and tells of those that do not in time. */
const reached = async (server: Soaked, number: number, ms: number, findings: string[]) => {
  const behind = async () =>
    ((await server.status())?.networks ?? []).filter(({ ranges }) => (ranges.at(-1)?.to ?? -1) < number)
  const end = Date.now() + ms
  while ((await behind()).length > 0 && Date.now() < end) await sleep(200)
  for (const { network, ranges, error, endpoints } of await behind())
    findings.push(
      `${network}: block ${number} did not come within ${ms / 1_000} s: ${JSON.stringify(ranges)} ${error ?? endpoints[0]?.lastError}`,
    )
}

const createRules = async (server: Soaked, name: string, receiver: string, starts: Map<string, number>) => {
  const [technology, blockchain, network] = name.split('/')
  for (const [rule, { confirmations, targetType, condition }] of Object.entries(RULES)) {
    const answer = await server.ask('/alerting/rules/', {
      ...{ name: rule, maxConfirmationCount: confirmations, technology, blockchain, network },
      config: {
        ...{ targetType, targetMap: [condition] },
        alerts: [
          {
            ...{ type: 'Webhook (POST)', parameters: { url: `${receiver}/${network}-${rule}` } },
            payload: [{ fieldType: 'Field', fieldName: targetType === 'Event' ? 'transactionHash' : 'hash' }],
          },
        ],
      },
    })
    if (answer.status !== 201) throw new Error(`a rule was answered with ${answer.status}: ${await answer.text()}`)
    starts.set(`${network}-${rule}`, ((await answer.json()) as { startBlock: number }).startBlock)
  }
}

const wayOf = (network: string) => network.split('/').at(-1)!
const ofNetwork = (taken: readonly Taken[], network: string): Taken[] =>
  taken.flatMap(it => (it.rule.startsWith(`${wayOf(network)}-`) ? [{ ...it, rule: it.rule.split('-')[1]! }] : []))

/** For each rule, the documents for which it had to fire. */
const dueOf = (reading: Reading, starts: ReadonlyMap<string, number>, network: string, to: number) => {
  const documents: Record<Rule, string[]> = {
    block: [...reading.block.keys()],
    deep: [...reading.block.keys()],
    failed: [...reading.tx].filter(([, { status }]) => status === false).map(([id]) => id),
    transfer: [...reading.event].filter(([, { event }]) => event === 'Transfer').map(([id]) => id),
  }
  return new Map(
    Object.entries(documents).map(([rule, ids]) => {
      const start = starts.get(`${wayOf(network)}-${rule}`)!
      const isDue = (id: string) => reading.numbers.get(id)! >= start && reading.numbers.get(id)! <= to
      return [rule, new Set(ids.filter(isDue))]
    }),
  )
}

/** Waits for the alerts that are due; what is still lost then, the audit tells. Returns those that came by then. */
const settled = async (
  taken: readonly Taken[],
  networks: readonly string[],
  reading: Reading,
  starts: ReadonlyMap<string, number>,
  to: number,
) => {
  const end = Date.now() + 60_000
  const isLacking = () =>
    networks.some(network => {
      const own = ofNetwork(taken, network)
      return auditAlerts({ taken: own, due: dueOf(reading, starts, network, to), ...AUDIT }).findings.some(finding =>
        /is lost|was not retracted/.test(finding),
      )
    })
  while (isLacking() && Date.now() < end) await sleep(500)
  const came = [...taken]
  return () => came
}

/** Lies that a check finds: receipts of less logs, another block, another parent, another chain. */
const falsify = (method: string, result: unknown): unknown => {
  const which = Math.floor(Math.random() * 4)
  if (which === 0 || result === null) return result
  if (method === 'eth_getBlockReceipts' && Array.isArray(result)) {
    for (const receipt of result) receipt.logs = []
    return which === 1 ? result : which === 2 ? [] : result.slice(1)
  }
  if (method === 'eth_getBlockByNumber') {
    const block = result as Record<string, unknown>
    const garbled = `0x${'ab'.repeat(32)}`
    if (which === 1) return { ...block, parentHash: garbled }
    if (which === 2) return { ...block, number: `0x${(Number(block.number) + 1_000_000).toString(16)}` }
    return { ...block, transactions: [] }
  }
  return method === 'eth_chainId' && which === 3 ? '0x1' : result
}

/** How long after it first showed at the node each network had a block of the head, by asking for it. */
const watchHead = (node: RealNode, server: Soaked, networks: readonly string[]) => {
  const slowest = new Map<string, number>()
  const waiting = new Map<string, { at: number; number: number; left: Set<string> }>()
  let highest = -1
  let stopAt = Number.POSITIVE_INFINITY
  const look = async () => {
    const block = await node.call<{ number: string; hash: string } | null>('eth_getBlockByNumber', 'latest', false)
    const number = Number(block?.number ?? -1)
    if (number > highest) {
      // What came with others below it may have been there for longer; the first look does not count.
      if (highest >= 0 && number <= stopAt)
        waiting.set(block!.hash, { at: performance.now(), number, left: new Set(networks) })
      highest = number
    }
    for (const [hash, { at, left }] of waiting) {
      await Promise.all(
        [...left].map(async network => {
          const answer = await server.ask(`/${network}/es/block/${hash}/`)
          await answer.text()
          if (answer.status !== 200) return
          left.delete(network)
          slowest.set(network, Math.max(slowest.get(network) ?? 0, Math.round(performance.now() - at)))
        }),
      )
      if (left.size === 0) waiting.delete(hash)
    }
  }
  const drop = () => {
    for (const [hash, { at, left }] of waiting) {
      if (performance.now() - at < 30_000) continue
      for (const network of left) slowest.set(network, 30_000)
      waiting.delete(hash)
    }
  }
  let patience = Number.POSITIVE_INFINITY
  const run = (async () => {
    while ((highest < stopAt || waiting.size > 0) && performance.now() < patience) {
      await look().catch(() => {})
      await sleep(100)
      if (Number.isFinite(stopAt)) drop()
    }
  })()
  return {
    /** After blocks were taken back: those that are waited for may never come. */
    forget: () => waiting.clear(),
    async stop(at: number) {
      stopAt = at
      patience = performance.now() + 60_000
      await run
      return slowest
    },
  }
}
