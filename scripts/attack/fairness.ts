import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { generatePack } from '../bench/fill.ts'
import { type Attack, tryEach } from './attack.ts'
import type { Victim } from './server.ts'
import { findingsIn, type Seen, showSeen, watchOther } from './watch.ts'

const NETWORK = 'ethereum/ethereum/mainnet'
const EVENTS = 252_000
const SECONDS = 15
const CONNECTIONS = 8
/** Streams that nobody reads stay open; with so many the attacker takes its time. */
const MANY_HELD = 100

/** What one account asks over and over, over so many connections. */
interface Dear {
  name: string
  entity: string
  body?: object
  held?: true
}

const ranges = (count: number) => Array.from({ length: count }, (_, i) => ({ range: { 'gas.num': { gt: 1e9 + i } } }))
const mustNot = (count: number) => ({ size: 1, query: { bool: { must_not: ranges(count) } } })
const sorts = (count: number) => ({ size: 1, sort: Array.from({ length: count }, () => 'gas.num') })

const DEAR: readonly Dear[] = [
  { name: 'nothing', entity: 'tx' },
  { name: '200 sorts', entity: 'tx', body: sorts(200) },
  { name: 'as many sorts as are allowed', entity: 'tx', body: sorts(16) },
  { name: '10,000 ranges under must_not', entity: 'tx', body: mustNot(10_000) },
  { name: 'as many ranges as are allowed', entity: 'tx', body: mustNot(4_000) },
  { name: 'a scan of rendered texts', entity: 'event', body: { query: { range: { str: { gte: 'zzz' } } } } },
  { name: 'streams that nobody reads', entity: 'tx', body: { size: -1, sort: 'input' }, held: true },
]

export const fairness: Attack = {
  name: 'fairness',
  is: 'dear queries of one account: the cheap ones of another are answered at once',
  async run(context) {
    const pack = join(context.folder, 'pack.ndjson')
    await generatePack(pack, { events: EVENTS, seed: 1 })
    const victim = await context.serve({ packs: { [NETWORK]: pack } })
    const notes: string[] = []
    const made = await tryEach(context, DEAR.length, async ({ attempt, find }) => {
      const dear = DEAR[attempt % DEAR.length]!
      const { seen, answers } = await underAttack(victim, dear)
      notes.push(`${showSeen(dear.name, seen)}; the attacker got ${JSON.stringify(answers)}`)
      for (const { what, how, isTime } of findingsIn(dear.name, seen)) find(what, how, isTime)
      return seen.term.max
    })
    return { ...made, notes }
  },
}

/** What the other account saw meanwhile, and how the attacker's requests ended, by status. */
const underAttack = async (
  { url, tokens }: Victim,
  { entity, body, held }: Dear,
): Promise<{ seen: Seen; answers: Record<string, number> }> => {
  const ending = new AbortController()
  const agent = new Agent({ connections: 1_000, headersTimeout: 0, bodyTimeout: 0 })
  const answers = new Map<string, number>()
  const unread: Dispatcher.ResponseData[] = []
  const path = `/${NETWORK}/es/${entity}/search`
  const headers = { authorization: `Bearer ${tokens[1]}`, 'content-type': 'application/json' }
  const attackOnce = async (text: string): Promise<string> => {
    try {
      const request = { origin: url, path, method: 'POST', body: text, headers, signal: ending.signal } as const
      const answer = await agent.request(request)
      if (held && answer.statusCode === 200) unread.push(answer)
      else await answer.body.dump({ limit: 1e9 })
      return String(answer.statusCode)
    } catch (error) {
      return (error as { code?: string }).code ?? 'failed'
    }
  }
  const watch = await watchOther({ url, network: NETWORK, token: tokens[0] })
  const attackers = Array.from({ length: body === undefined ? 0 : CONNECTIONS }, async () => {
    const text = JSON.stringify(body)
    while (!ending.signal.aborted) {
      const status = await attackOnce(text)
      if (!ending.signal.aborted) answers.set(status, (answers.get(status) ?? 0) + 1)
      await sleep(unread.length > MANY_HELD ? 1_000 : 1)
    }
  })
  await sleep(SECONDS * 1_000)
  const seen = await watch.stop()
  ending.abort()
  for (const { body } of unread) body.on('error', () => {}).destroy()
  await Promise.all(attackers)
  await agent.destroy()
  return { seen, answers: Object.fromEntries(answers) }
}
