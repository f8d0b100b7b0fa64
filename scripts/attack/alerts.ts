import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNode } from '../../test/support/node.ts'
import { generateBlocks } from '../bench/generate.ts'
import type { Context, Finding } from './attack.ts'
import type { Victim } from './server.ts'

export const NETWORK = 'ethereum/attack/chain'

/** A server that follows a chain which grows when it is told. */
export type Chain = Awaited<ReturnType<typeof serveChain>>

const FIRST_BLOCKS = 3

export const serveChain = async (serve: Context['serve']) => {
  const cleanUps: (() => Promise<void>)[] = []
  const blocks = generateBlocks({ seed: 1 })
  const first = Array.from({ length: FIRST_BLOCKS }, () => blocks.next().value!)
  const node = await startNode({ after: fn => void cleanUps.push(fn) }, first)
  for (const method of ['eth_call', 'eth_getCode', 'eth_getStorageAt']) node.methods.set(method, () => '0x')
  const source = ['--rpc', node.url, '--ws', node.wsUrl, '--from', String(Number(first[0]!.block.number))]
  const args = ['--network', NETWORK, ...source, '--allow-target', '127.0.0.0/8']
  const victim = await serve({ packs: {}, args })
  return {
    victim,
    grow() {
      node.extend([blocks.next().value!])
      node.announce()
    },
    async close() {
      for (const cleanUp of cleanUps) await cleanUp()
    },
  }
}

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

/** Receives alerts: those at `OTHER` as any receiver does, those at other paths by a behaviour that the path names. */
export type Host = Awaited<ReturnType<typeof startHost>>

export const OTHER = '/other'

export const startHost = async (behaviours: Readonly<Record<string, Behaviour>> = {}) => {
  const arrivals = new Map<number, number>()
  let hits = 0
  const answer = (request: IncomingMessage, response: ServerResponse, body: string) => {
    if (request.url === OTHER) arrivals.set(numberOf(body), performance.now())
    else hits++
    const behave = behaviours[request.url!.split('/')[1]!]
    if (behave) behave(request, response)
    else response.end()
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    hits: () => hits,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const numberOf = (body: string): number =>
  (JSON.parse(body) as { payload: { number: { num: number } } }).payload.number.num

export const ruleOf = (config: object, more: object = {}): string => {
  const [technology, blockchain, network] = NETWORK.split('/')
  return JSON.stringify({ name: '', maxConfirmationCount: 0, technology, blockchain, network, config, ...more })
}

export const tellOfBlocks = async ({ url }: Victim, token: string, target: string): Promise<void> => {
  const payload = [{ fieldType: 'Field', fieldName: 'number' }]
  const response = await fetch(`${url}/alerting/rules/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: ruleOf({
      targetType: 'Block',
      targetMap: [{ name: 'number', operator: 'Greater or Equal', value: '0' }],
      alerts: [{ type: 'Webhook (POST)', parameters: { url: target }, payload }],
    }),
  })
  if (response.status !== 201) throw new Error(`a rule was answered with ${response.status}: ${await response.text()}`)
}

const SOON_MS = 2_000
const PATIENCE_MS = 60_000
const GAP_MS = 500

/** Lets so many blocks come, and holds when `OTHER` is told of them. */
export const timeAlerts = async (
  { grow }: Chain,
  { arrivals }: Host,
  blocks: number,
): Promise<{ findings: Finding[]; worstMs: number }> => {
  const before = new Set(arrivals.keys())
  const grown: number[] = []
  for (let block = 0; block < blocks; block++) {
    grown.push(performance.now())
    grow()
    await sleep(GAP_MS)
  }
  const told = () => [...arrivals].filter(([number]) => !before.has(number)).toSorted(([a], [b]) => a - b)
  for (const end = performance.now() + PATIENCE_MS; told().length < blocks && performance.now() < end; ) await sleep(20)
  const waits = told().map(([, at], i) => at - grown[i]!)
  const late = waits.filter(wait => wait > SOON_MS).length
  const findings: Finding[] = []
  if (waits.length < blocks)
    findings.push({ what: 'alerts of another account do not come', how: `${waits.length} of ${blocks} came in 60 s` })
  if (late > 0)
    findings.push({
      what: 'alerts of another account are late',
      how: `${late} of ${blocks} took over ${SOON_MS} ms, the last ${Math.max(...waits).toFixed(0)} ms`,
      isTime: true,
    })
  return { findings, worstMs: Math.max(0, ...waits) }
}
