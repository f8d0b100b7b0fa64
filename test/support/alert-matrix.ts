import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../scripts/demo/random.ts'
import { alertId } from '../../src/alerts/alert-store.ts'
import { windowAlertId } from '../../src/alerts/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { keccakHex } from '../../src/lib/keccak.ts'
import { after, pause, type Server, serve, tempFolder, until } from '../e2e/program.ts'
import { startNode } from './node.ts'
import { bloomOf, makeChain } from './pack.ts'
import { type Behaviour, type Call, type Receiver, startReceiver } from './receiver.ts'
import { serveLogs } from './scoped.ts'

/**
 * A real server process against a scripted chain and scripted receivers: it is killed and started again, the chain is reorganised, receivers
 * fail in their ways. In the end every alert that should exist was delivered under its id, and every one that should not was not, or was taken back.
 */
const NETWORK = 'ethereum/made-up/mainnet'
const CHAIN_ID = 31337
const FIRST = 100
/** Blocks below the first one: headers are followed from as far down as the chain may be reorganised. */
const BELOW: Record<Extent, number> = { whole: 20, contract: 64, factory: 64 }

/** How receivers fail; `ends` says whether what is sent to them arrives in the end. */
const RECEIVERS: Record<string, { ends: boolean; behave(tries: number): Behaviour }> = {
  ok: { ends: true, behave: () => ({ status: 200 }) },
  failing: { ends: true, behave: tries => ({ status: tries === 1 ? 500 : 200 }) },
  hanging: { ends: true, behave: tries => (tries === 1 ? 'hang' : { status: 200 }) },
  resetting: { ends: true, behave: tries => (tries === 1 ? 'reset' : { status: 204 }) },
  slow: { ends: true, behave: () => ({ status: 200, after: 250 }) },
  limiting: {
    ends: true,
    behave: tries => (tries === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 }),
  },
  gone: { ends: false, behave: () => ({ status: 410 }) },
  redirecting: { ends: false, behave: () => ({ status: 302, headers: { location: '/elsewhere' } }) },
}

interface Test {
  after(fn: () => unknown): void
  diagnostic(text: string): void
}

interface Rule {
  id: number
  kind: string
  receiver: Receiver
  heights: number[]
  confirmations: number
  start: number
  /** Each match is an episode of its own, which ends with the next block. */
  hasWindows: boolean
}

/** What of the chain is indexed: all of it, a contract, or a factory with the contracts that it names. */
export type Extent = 'whole' | 'contract' | 'factory'

export const runSeed = async (t: Test, seed: number, extent: Extent = 'whole') => {
  const { int, pick } = createRandom(seed)
  const below = (n: number) => int(0, n - 1)

  const data = tempFolder(t)
  const more = (count: number, from: { from: number } | { parent: RawBlock }, salt: string) => {
    const blocks = makeChain({ blocks: count, ...from, txs: 1, logs: 1, chainId: CHAIN_ID, salt })
    if (extent !== 'whole') for (const raw of blocks) setLog(raw, extent === 'contract' ? below(3) : below(6))
    return blocks
  }
  // The node has more than the server is asked to index, as nodes do.
  let chain = more(BELOW[extent] + 4, { from: FIRST - BELOW[extent] }, '')
  const everything = [...chain]
  const node = await startNode(t as never, chain)
  serveLogs(node)
  const indexed = extent === 'factory' ? ['--config', writeFactory(data, node.url)] : indexedBy(extent, node.url)
  const args = ['--network', NETWORK, ...indexed, '--poll-interval', '20ms']
  // The receivers run in this process, which may stand still for a second. The last wait makes all of them together long: a delivery is
  // dead once its receiver has accepted nothing for that time.
  const delivery = ['--allow-target', '127.0.0.1/32', '--delivery-timeout', '2s']
  const retries = [...Array(12).fill('150ms'), '1h'].flatMap(wait => ['--delivery-retries', wait])
  const start = () => serve(t, data, [...args, ...delivery, ...retries])
  let server = await start()

  const rules: Rule[] = []
  for (let i = 0; i < 4; i++) rules.push(await createRule(t, server, i, { below, pick }, extent === 'whole' && i === 3))

  const steps: string[] = []
  let kills = 0
  const mine = (count: number) => {
    const mined = more(count, { parent: chain.at(-1)! }, `${seed}/${steps.length}`)
    chain = [...chain, ...mined]
    everything.push(...mined)
    node.extend(mined)
  }
  const reorganise = (depth: number) => {
    chain = chain.slice(0, Math.max(BELOW[extent] + 1, chain.length - depth))
    mine(depth + 1)
  }
  for (let i = 0; i < 10; i++) {
    const what = below(10)
    if (what < 5) {
      steps.push('mine')
      mine(1 + below(3))
    } else if (what < 8) {
      const depth = below(6)
      steps.push(`reorg ${depth}`)
      reorganise(depth)
    } else if (kills < 2) {
      kills++
      steps.push('kill')
      server.signal('SIGKILL')
      await server.ended
      if (below(2)) mine(1)
      server = await start()
    }
    await pause(below(3) * 60)
  }
  // Deep enough for every confirmation that a rule asks for, and so that all of them lie below the last height.
  mine(Math.max(4, FIRST + 30 - Number(chain.at(-1)!.block.number)))
  t.diagnostic(
    `seed ${seed}: ${steps.join(', ')}; ${rules.map(({ kind, confirmations }) => `${kind}/${confirmations}`).join(' ')}`,
  )

  try {
    const stored = extent === 'whole' ? chain : chain.filter(isIndexed(chain))
    for (const rule of rules) await check(server, rule, stored, everything)
  } catch (error) {
    t.diagnostic(JSON.stringify(await server.status().catch(String)))
    t.diagnostic(server.err())
    throw error
  }
  server.signal('SIGTERM')
  const { code, err } = await server.ended
  assert.equal(code, 0, err)
}

const FACTORY = `0x${'fa'.repeat(20)}` as const
const CREATED = keccakHex('Created(address)')
const contract = (n: number) => `0x${n.toString(16).padStart(40, '7')}` as const

/** The one log of a block: one of a few contracts, or one by which the factory names one of them. */
const setLog = ({ block, receipts }: RawBlock, kind: number) => {
  const [receipt] = receipts
  const child = contract(kind % 3)
  const named = { address: FACTORY, topics: [CREATED], data: `0x${'0'.repeat(24)}${child.slice(2)}` as const }
  Object.assign(receipt!.logs[0]!, kind < 3 ? { address: child, topics: [] } : named)
  block.logsBloom = bloomOf(receipts)
}

const indexedBy = (extent: 'whole' | 'contract', url: string): string[] => [
  ...['--rpc', url, '--from', String(FIRST)],
  ...(extent === 'contract' ? ['--contract', contract(0)] : []),
]

const writeFactory = (data: string, url: string): string => {
  const file = join(data, 'factory.toml')
  const factory = `{ addresses = ["${FACTORY}"], event = "Created(address child)", parameter = "child" }`
  writeFileSync(
    file,
    `[[networks]]\nnetwork = "${NETWORK}"\nrpc = ["${url}"]\n[[networks.scopes]]\nfactory = ${factory}\nfrom = ${FIRST}\n`,
  )
  return file
}

/** By a plain reading of the chain from its first block on. Of a contract, and of a factory, other blocks hold logs. */
const isIndexed = (chain: readonly RawBlock[]) => {
  const known = new Set<string>()
  const wanted = new Set<RawBlock>()
  const isOfFactory = chain.some(({ receipts }) => receipts[0]!.logs[0]!.address === FACTORY)
  if (!isOfFactory) known.add(contract(0))
  for (const raw of chain) {
    if (Number(raw.block.number) < FIRST) continue
    const { address, data } = raw.receipts[0]!.logs[0]!
    if (address === FACTORY) known.add(`0x${data.slice(26)}`)
    if (address === FACTORY || known.has(address)) wanted.add(raw)
  }
  return (raw: RawBlock) => wanted.has(raw)
}

const createRule = async (
  t: Test,
  server: Server,
  index: number,
  { below, pick }: { below(n: number): number; pick<T>(items: readonly T[]): T },
  hasWindows: boolean,
): Promise<Rule> => {
  const kind = pick(Object.keys(RECEIVERS))
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  // Every second message fails at first: a receiver that fails at all of them is left alone for longer than a test takes.
  const first = new Map<string, number>()
  receiver.behave = ({ body }) => {
    if (!first.has(body)) first.set(body, first.size % 2)
    const tries = receiver.calls.filter(call => call.body === body).length
    return RECEIVERS[kind]!.behave(first.get(body) === 0 ? tries : tries + 1)
  }
  const heights = [...new Set(Array.from({ length: 5 }, () => FIRST + 1 + below(20)))]
  const confirmations = below(4)
  // Some look back at what was indexed before them.
  const looksBack = below(2) === 1
  const start = looksBack && !hasWindows ? FIRST : FIRST + 4
  const rule = {
    name: `rule ${index}`,
    maxConfirmationCount: confirmations,
    technology: 'ethereum',
    blockchain: 'made-up',
    network: 'mainnet',
    startBlock: start,
    config: {
      targetType: 'Transaction',
      targetMap: [{ name: 'value', operator: 'Equals any', value: heights.map(height => String(height * 1000)) }],
      ...(hasWindows && { when: EACH, notify: { resolved: true } }),
      alerts: [
        {
          type: 'Webhook (POST)',
          parameters: { url: `${receiver.url}/hook` },
          payload: [{ fieldType: 'Field', fieldName: 'hash' }],
        },
      ],
    },
  }
  const { status, body } = await server.ask<{ id: number }>('/alerting/rules/', rule)
  assert.equal(status, 201, JSON.stringify(body))
  return { id: body.id, kind, receiver, heights, confirmations, start, hasWindows }
}

const EACH = {
  ...{ by: ['hash'], within: { blocks: 1 } },
  conditions: [{ aggregate: 'Count', operator: 'Greater', value: '0' }],
}

/** Ids of the alerts that a rule has on these blocks. */
const alertsOn = (rule: Rule, blocks: readonly RawBlock[]): Set<string> =>
  new Set(
    blocks
      .filter(({ block }) => Number(block.number) >= rule.start && rule.heights.includes(Number(block.number)))
      .map(({ block }) => {
        const { hash } = block.transactions[0]!
        const match = { rule: rule.id, revision: 1, blockHash: block.hash, entity: { _id: hash, _type: 'tx' as const } }
        return rule.hasWindows ? windowAlertId(match, CHAIN_ID, JSON.stringify([hash])) : alertId(match, CHAIN_ID)
      }),
  )

interface Listed {
  id: string
  state: string
}

const check = async (server: Server, rule: Rule, chain: readonly RawBlock[], everything: readonly RawBlock[]) => {
  const wanted = alertsOn(rule, chain)
  const possible = alertsOn(rule, everything)
  const { ends } = RECEIVERS[rule.kind]!
  const holds = rule.hasWindows ? 'resolved' : 'confirmed'
  const messages = () => rule.receiver.calls.map(readCall)
  const lastOf = () => new Map(messages().map(({ id, type }) => [id, type]))
  const list = async () =>
    (await server.ask<{ alerts: Listed[] }>(`/alerting/rules/${rule.id}/alerts/?size=100`)).body.alerts

  const inState = (alerts: Listed[], state: string) =>
    new Set(alerts.filter(it => it.state === state).map(({ id }) => id))
  await until(
    list,
    alerts => same(inState(alerts, holds), wanted) && inState(alerts, 'pending').size === 0,
    () => `alerts of ${rule.kind}, which should be ${[...wanted]}`,
  )
  if (ends)
    await until(
      () => [...lastOf()],
      last =>
        last.every(([id, type]) => type === (wanted.has(id) ? `alert.${holds}` : 'alert.retracted')) &&
        last.filter(([id]) => wanted.has(id)).length === wanted.size,
      () => `messages to ${rule.kind}: ${JSON.stringify(messages())}; wanted ${[...wanted]}`,
    )
  for (const { id, type, headers, body } of messages()) {
    assert.ok(possible.has(id), `${id} is no alert of this rule`)
    assert.equal(headers['webhook-id'], id)
    assert.equal(headers['webhook-type'], type)
    assert.equal((JSON.parse(body) as { rule: { id: number } }).rule.id, rule.id)
  }
  // What was never confirmed was never told, and what is retracted was confirmed once.
  const told = new Set(messages().map(({ id }) => id))
  const alerts = await list()
  for (const { id, state } of alerts)
    if (state === 'withdrawn') assert.ok(!told.has(id), `${id} was withdrawn but told`)
}

const readCall = (call: Call) => {
  const { id, type } = JSON.parse(call.body) as { id: string; type: string }
  return { ...call, id, type }
}

const same = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => a.size === b.size && a.isSubsetOf(b)
