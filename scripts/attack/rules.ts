import { NETWORK, OTHER, ruleOf, serveChain, startHost, tellOfBlocks, timeAlerts } from './alerts.ts'
import type { Attack, Finding } from './attack.ts'
import type { Victim } from './server.ts'
import { findingsIn, showSeen, watchOther } from './watch.ts'

const ANSWER_MS = 1_000
/** Rules that fill an account; past its limits they are refused. */
const MAX_RULES = 12_000
const AT_ONCE = 4
const LISTS = 10
const BLOCKS = 20

/**
 * One account makes the worst rules that it can: bodies that no rule could be, then rules as wide as they may be until it has no room, then
 * some lists of them at once; then blocks come, of which another account must hear.
 */
export const rules: Attack = {
  name: 'rules',
  is: 'the worst rules that an account can make: refused or bounded, and the alerts of another account arrive at once',
  async run({ serve, tries }) {
    const chain = await serveChain(serve)
    const host = await startHost()
    const { victim } = chain
    const findings: Finding[] = []
    const notes: string[] = []
    const client = createClient(victim)
    const watching = async <T>(during: string, run: () => Promise<T>): Promise<T> => {
      const watch = await watchOther({ url: victim.url, network: NETWORK, token: victim.tokens[0] })
      try {
        return await run()
      } finally {
        const seen = await watch.stop()
        notes.push(showSeen(during, seen))
        findings.push(...findingsIn(during, seen))
      }
    }
    const find = (what: string, how: string) => void findings.push({ what, how })
    try {
      await tellOfBlocks(victim, victim.tokens[0], `${host.url}${OTHER}`)
      const bodies = [...hostileBodies()]
      let made = 0
      const full = await watching('hostile rules, wide ones until there is no room, and lists of them', async () => {
        for (const attempt of tries(bodies.length)) {
          const [name, body] = bodies[attempt % bodies.length]!
          const { status, text, ms } = await client.post(body)
          if (status !== 400 && status !== 413) find('a hostile rule is not refused', `${name}: ${status}`)
          if (ms > ANSWER_MS) find('a hostile rule is refused late', `${name}: ${ms.toFixed(0)} ms`)
          if (text.length > 100_000) find('a refusal is long', `${name}: ${text.length} bytes`)
          made++
        }
        const full = await fill(client.post)
        const lists = await Promise.all(Array.from({ length: LISTS }, client.list))
        for (const { status, text } of lists) if (status !== 200) find('a list of rules is refused', text)
        return full
      })
      if (full.length === MAX_RULES) find('an account has no limit of rules', `${MAX_RULES} wide ones`)
      notes.push(`${full.length} wide rules until the account was full`)
      const { text, ms } = await client.list()
      if (ms > ANSWER_MS) find('a list of rules comes late', `${text.length} bytes after ${ms.toFixed(0)} ms`)
      const alerts = await watching('blocks that they are asked for', () => timeAlerts(chain, host, BLOCKS))
      findings.push(...alerts.findings)
      notes.push(`the alerts of another account came within ${Math.round(alerts.worstMs)} ms`)
      return { tries: made + full.length + LISTS + BLOCKS, findings, worstMs: client.worstMs(), notes }
    } finally {
      host.close()
      await chain.close()
    }
  },
}

const createClient = ({ url, tokens }: Victim) => {
  let worst = 0
  const call = async (method: string, body?: string) => {
    const started = performance.now()
    const reply = await fetch(`${url}/alerting/rules/`, {
      method,
      headers: { authorization: `Bearer ${tokens[1]}` },
      ...(body !== undefined && { body }),
    })
    const text = await reply.text()
    const ms = performance.now() - started
    worst = Math.max(worst, ms)
    return { status: reply.status, text, ms }
  }
  return { post: (body: string) => call('POST', body), list: () => call('GET'), worstMs: () => worst }
}

const fill = async (post: (body: string) => Promise<{ status: number; text: string }>) => {
  const made: string[] = []
  let next = 0
  let full = false
  const worker = async () => {
    while (!full && next < MAX_RULES) {
      const { status, text } = await post(eventRule(wide(next++, 248)))
      if (status === 201) made.push(String((JSON.parse(text) as { id: number }).id))
      else full = true
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return made
}

const eventRule = (targetMap: unknown[], more: object = {}): string => {
  const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }]
  return ruleOf({ targetType: 'Event', targetMap, alerts }, more)
}

/** Conditions that hold for nearly every argument but the last, which never does: all of them are asked for each event. */
const wide = (salt: number, count: number) => [
  {
    name: 'args',
    operator: 'Inspect',
    operatorParameters: Array.from({ length: count }, (_, i) => ({
      name: String(i % 3),
      operator: 'Greater or Equal',
      value: i === count - 1 ? `${10n ** 70n + BigInt(salt)}` : `-${salt * count + i}`,
    })),
  },
]

function* hostileBodies(): Generator<[what: string, body: string]> {
  for (const count of [2_000, 5_000, 6_000, 100_000]) yield [`${count} conditions`, eventRule(wide(0, count))]
  const event = [{ name: 'event', operator: 'Equals', value: 'a' }]
  yield ['7 million zeros', eventRule(event, { x: new Array(7_000_000).fill(0) })]
  yield ['5 million objects', `${eventRule(event).slice(0, -1)},"x":[${'{},'.repeat(5_000_000)}{}]}`]
  yield ['a name of 2 MB', eventRule(event, { name: 'x'.repeat(2e6) })]
  yield ['a name of 100 kB', eventRule(event, { name: 'x'.repeat(1e5) })]
  yield ['deep lists', `${eventRule(event).slice(0, -1)},"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}`]
  yield ['many wrong values', eventRule([{ name: 'event', operator: 'Equals any', value: new Array(60_000).fill(0) }])]
  yield [
    'many wrong properties',
    eventRule(event, Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [i, 2 ** 60]))),
  ]
}
