import { setTimeout as sleep } from 'node:timers/promises'

/** What was asked of a running server: what must not be, and what was measured. */
export interface RulesAttacked {
  findings: string[]
  notes: string[]
  worstMs: number
}

const HEALTH_MS = 100
const ANSWER_MS = 1_000
/** Rules that fill an account; past its limits they are refused. */
const MOST_RULES = 12_000
const AT_ONCE = 4

/**
 * One account makes the worst rules that it can: bodies that no rule could be, then rules as wide as they may be until it has no room, then
 * ten lists of them at once. All that it made is removed at the end.
 */
export const attackRules = async (url: string, token: string, network: string): Promise<RulesAttacked> => {
  const findings: string[] = []
  const notes: string[] = []
  let worstMs = 0
  const call = async (method: string, path: string, body?: string) => {
    const started = performance.now()
    const reply = await fetch(`${url}/alerting/rules/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
    })
    const text = await reply.text()
    const ms = performance.now() - started
    worstMs = Math.max(worstMs, ms)
    return { status: reply.status, text, ms }
  }
  const health = watchHealth(url)

  for (const [what, body] of hostileBodies(network)) {
    const { status, text, ms } = await call('POST', '', body)
    if (![400, 413].includes(status)) findings.push(`${what}: answered ${status}`)
    if (ms > ANSWER_MS) findings.push(`${what}: answered after ${ms.toFixed(0)} ms`)
    if (text.length > 100_000) findings.push(`${what}: an answer of ${text.length} bytes`)
  }
  notes.push(`hostile bodies: health ${health.worst()} ms`)

  const made = await fill(network, body => call('POST', '', body))
  if (made.length === MOST_RULES) findings.push(`an account could make ${MOST_RULES} wide rules`)
  notes.push(`made ${made.length} wide rules: health ${health.worst()} ms`)

  const lists = await Promise.all(Array.from({ length: 10 }, () => call('GET', '')))
  if (lists.some(({ status }) => status !== 200)) findings.push('a list of rules was refused')
  const { text, ms } = await call('GET', '')
  if (ms > ANSWER_MS) findings.push(`a list of rules was answered after ${ms.toFixed(0)} ms`)
  const worst = health.worst()
  if (worst > HEALTH_MS) findings.push(`/health was answered after ${worst} ms`)
  notes.push(`listed ${text.length} bytes in ${ms.toFixed(0)} ms: health ${worst} ms`)

  for (const id of made) await call('DELETE', id)
  await health.stop()
  return { findings, notes, worstMs }
}

const watchHealth = (url: string) => {
  let worst = 0
  let goesOn = true
  const watching = (async () => {
    while (goesOn) {
      const started = performance.now()
      await (await fetch(`${url}/health`)).text()
      worst = Math.max(worst, performance.now() - started)
      await sleep(10)
    }
  })()
  return {
    worst: () => Math.round(worst),
    stop() {
      goesOn = false
      return watching
    },
  }
}

/** Makes rules until one is refused; their ids. */
const fill = async (network: string, post: (body: string) => Promise<{ status: number; text: string }>) => {
  const made: string[] = []
  let next = 0
  let full = false
  const worker = async () => {
    while (!full && next < MOST_RULES) {
      const { status, text } = await post(ruleOf(network, wide(next++, 248)))
      if (status === 201) made.push(String((JSON.parse(text) as { id: number }).id))
      else full = true
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return made
}

const ruleOf = (name: string, targetMap: unknown[], more: object = {}): string => {
  const [technology, blockchain, network] = name.split('/')
  const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }]
  const config = { targetType: 'Event', targetMap, alerts }
  return JSON.stringify({ name: '', maxConfirmationCount: 0, technology, blockchain, network, config, ...more })
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

function* hostileBodies(network: string): Generator<[what: string, body: string]> {
  for (const count of [2_000, 5_000, 6_000, 100_000]) yield [`${count} conditions`, ruleOf(network, wide(0, count))]
  const event = [{ name: 'event', operator: 'Equals', value: 'a' }]
  yield ['7 million zeros', ruleOf(network, event, { x: new Array(7_000_000).fill(0) })]
  yield ['5 million objects', `${ruleOf(network, event).slice(0, -1)},"x":[${'{},'.repeat(5_000_000)}{}]}`]
  yield ['a name of 2 MB', ruleOf(network, event, { name: 'x'.repeat(2e6) })]
  yield ['a name of 100 kB', ruleOf(network, event, { name: 'x'.repeat(1e5) })]
  yield ['deep lists', `${ruleOf(network, event).slice(0, -1)},"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}`]
  yield [
    'many wrong values',
    ruleOf(network, [{ name: 'event', operator: 'Equals any', value: new Array(60_000).fill(0) }]),
  ]
  yield [
    'many wrong properties',
    ruleOf(network, event, Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [i, 2 ** 60]))),
  ]
}
