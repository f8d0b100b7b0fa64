import { debuglog } from 'node:util'
import { Agent } from 'undici'
import type { OpenApi } from '../../src/http/description.ts'
import type { Random } from '../lib/random.ts'
import { type Attack, brief, type Context, chance, type Finding, pick, tryEach } from './attack.ts'
import { combined, FILLS, type Fill } from './fills.ts'
import { MARK, type Place, placesOf, type Request } from './places.ts'
import { pause, type Victim } from './server.ts'
import { type Seen, showSeen, type Watch, watchOther } from './watch.ts'

/** Each request, with NODE_DEBUG=attack. */
const log = debuglog('attack')

const TRIES = 3_000
/** The share of tries with what is odd. */
const ODD = 0.2
const NETWORK = 'ethereum/demo/local'

/** Longest wait for `/health` while one request is answered, in milliseconds, less what others on the machine take. */
const MAX_MS = 250
/** The same of 99 in 100, where there are so many. */
const MAX_P99_MS = 50
const LEAST_RUNS = 100
/** No machine is a reason for as much. */
const FROZEN_MS = 500
/** For the `term` on `_id` of another account, which shares threads with others. */
const MAX_TERM_MS = 2_000
const EVERY_MS = 10
/** The deadline of a query, and what it takes to read and write as much. */
const MAX_ANSWER_MS = 20_000
const MAX_MEMORY = 1e9
const MAX_ANSWER = 64e6
const MAX_REFUSAL = 64e3
/** Of an answer that is looked into. */
const MAX_SHOWN = 4e6

/**
 * Every place of every request that a caller can fill, with the largest text, list or name that it takes. The places are those of the description
 * that the server itself gives, so that a new endpoint, parameter, clause or aggregation is attacked without a word here.
 */
export const largest: Attack = {
  name: 'largest',
  is: 'one request at a time, as large as it may be in each place of each endpoint: /health, other accounts and memory bear it',
  async run(context) {
    const counts = { requests: 0, taken: 0, refused: 0 }
    let ground = await prepare(context.serve)
    const outcome = await tryEach(context, TRIES, async ({ attempt, random, find }) => {
      const several = combined(ground.values)
      const made = several[attempt] ?? (await growing(ground, groupAt(ground, attempt - several.length), random))
      const { faults, ms } = await attack(ground, made, counts)
      for (const { what, how, isTime } of faults) find(what, how, isTime)
      if (!ground.victim.alive() || faults.some(({ what }) => LASTING.has(what))) {
        await ground.close()
        ground = await prepare(context.serve)
      }
      return ms
    })
    await ground.close()
    return { ...outcome, tries: counts.requests, notes: [JSON.stringify(counts)] }
  },
}

/** One request, which may be made smaller where it is refused. */
export interface Growing {
  name: string
  parts: number
  size: number
  make(parts: number): Request
}

interface Ground {
  victim: Victim
  api: OpenApi
  limits: Record<string, number>
  values: Prepared
  /** Places that are read by one piece of code, and each piece of the language of searches. */
  groups: Record<'others' | 'searches', Place[][]>
  watch: Watch
  send(request: Request): Promise<Answer>
  close(): Promise<void>
}

export type Prepared = Parameters<typeof placesOf>[2] & { scroll_id: string }

interface Answer {
  status: number
  bytes: number
  text: string
  ms: number
}

const ABI = [{ type: 'event', name: 'Attack', inputs: [{ name: 'a', type: 'uint256', indexed: true }] }]

const prepare = async (serve: Context['serve']): Promise<Ground> => {
  const victim = await serve({ packs: {}, args: ['--allow-target', '127.0.0.0/8'] })
  const { url, tokens, pid } = victim
  const watch = await watchOther({ url, network: NETWORK, token: tokens[0], pid, everyMs: EVERY_MS })
  const agent = new Agent({ connections: 4, headersTimeout: 0, bodyTimeout: 0 })
  const send = (request: Request) => sendBy(agent, victim, request)
  const told = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const { status, text } = await send({ method, path, headers, body: body && JSON.stringify(body) })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text)
  }
  const api = (await told('GET', '/openapi.json')) as OpenApi
  const { limits } = await told('GET', '/account')
  const rule = api.paths['/alerting/rules']!.post!.requestBody!.content['application/json']!.example as object
  const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'http://127.0.0.1:9/' } }]
  const config = { ...(rule as { config: object }).config, alerts }
  const { id } = await told('POST', '/alerting/rules', { ...rule, config })
  await told('PUT', '/alerting/lists/event', [`0x${'00'.repeat(20)}`])
  const [abi] = (await told('POST', '/abis', { name: 'attack', abi: ABI })).abis
  const firstOf = async (entity: string): Promise<string> =>
    (await told('GET', `/${NETWORK}/es/${entity}/_search?size=1`)).hits.hits[0]?._id ?? 'a'
  const ids = Object.fromEntries(
    await Promise.all(['tx', 'event', 'call', 'contract'].map(async kind => [kind, await firstOf(kind)])),
  )
  const scroll = (await told('GET', `/${NETWORK}/es/tx/_search?scroll=1h&size=1`))._scroll_id
  const pit = (await told('POST', `/${NETWORK}/es/tx/_pit?keep_alive=1h`)).id
  const ofPath: [RegExp, string][] = [
    [/\/(contract|event|call)\/\{id\}/, ''],
    [/scroll/, scroll],
    [/rules/, String(id)],
    [/abis/, String(abi.id)],
    [/\/es\//, ids.tx],
  ]
  const values: Prepared = {
    id(path) {
      const [what, own] = ofPath.find(([pattern]) => pattern.test(path)) ?? [/./, '1']
      return own || ids[what.exec(path)![1]!]
    },
    ...{ document: ids.tx, scroll_id: scroll, pit_id: pit, rules: String(id), rule: String(id) },
    ...{ ids: [ids.tx], docs: [{ _index: 'tx', _id: ids.tx, _source: ['hash'] }], pit: { id: pit, keep_alive: '1m' } },
  }
  const places = placesOf(api, { body: limits.body }, values)
  const { others = [], searches = [] } = Object.groupBy(
    [...Map.groupBy(places, ({ group }) => group).values()],
    ([one]) => (one!.group.includes(' in [') ? 'searches' : 'others'),
  )
  const close = async () => {
    await watch.stop()
    await agent.destroy()
    await victim.stop(0)
  }
  return { victim, api, limits, values, groups: { others, searches }, watch, send, close }
}

const sendBy = async (
  agent: Agent,
  { url, tokens }: Victim,
  { method, path, headers, body }: Request,
): Promise<Answer> => {
  const start = performance.now()
  const after = () => performance.now() - start
  const authorization = `Bearer ${tokens[1]}`
  let [status, bytes, text] = [0, 0, '']
  try {
    const answer = await agent.request({
      ...{ origin: url, method: method as 'GET', path, headers: { ...headers, authorization }, body: body ?? null },
      signal: AbortSignal.timeout(1.5 * MAX_ANSWER_MS),
    })
    status = answer.statusCode
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (bytes < MAX_SHOWN) text += chunk
      bytes += chunk.length
      if (bytes > 4 * MAX_ANSWER) break
    }
    return { status, bytes, text, ms: after() }
  } catch (error) {
    return { status: 0, bytes, text: String(error), ms: after() }
  }
}

/** Keys that an object of a body may have and that no example shows: the program tells them when it meets another one. */
const moreKeys = async ({ send }: Ground, place: Place): Promise<string[]> => {
  if (!isRecord(place.json) || place.takes === 'text') return []
  const own = place.json
  const { text } = await send(place.put(JSON.stringify({ ...own, [UNKNOWN]: 1 }), 'json'))
  const names = new RegExp(`unknown key \\[${UNKNOWN}\\].*? Known are ([\\w., ]+)\\.`).exec(text)?.[1]
  return names?.split(', ').filter(name => !Object.hasOwn(own, name)) ?? []
}

const UNKNOWN = 'zzzz'
const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The place of a key inside of an object. */
const within = (place: Place, key: string): Place => ({
  ...{ ...place, at: `${place.at}.${key}`, text: 'a', json: 'a' },
  put(text, is) {
    const [before, after] = JSON.stringify({ ...(place.json as object), [key]: MARK }).split(JSON.stringify(MARK))
    return place.put(`${before}${is === 'text' ? JSON.stringify(text) : text}${after}`, 'json')
  },
})

/** Searches have threads of their own: what has not is tried as often as all of their language. */
const groupAt = ({ groups }: Ground, number: number): readonly Place[] => {
  const list = number % 2 === 0 ? groups.others : groups.searches
  return list[Math.floor(number / 2) % list.length]!
}

const growing = async (ground: Ground, group: readonly Place[], dice: Random): Promise<Growing> => {
  const at = pick(dice, [...new Set(group.map(({ at }) => at))])
  const found = pick(
    dice,
    group.filter(it => it.at === at),
  )
  const key = pick(dice, [undefined, ...(await moreKeys(ground, found))])
  const place = key === undefined ? found : within(found, key)
  const isOdd = chance(dice, ODD)
  const fits = ({ is, isOdd: odd = false }: Fill) => odd === isOdd && (is === 'text' || place.takes === 'json')
  const fill = pick(dice, FILLS.filter(fits))
  const size = Math.max(1, fill.size(place))
  return {
    ...{ name: `${place.operation}, ${place.at}: ${fill.name}`, size, parts: Math.ceil(place.bytes / size) },
    make: parts => place.put(fill.make(parts, place), fill.is),
  }
}

type Fault = Omit<Finding, 'attempt'>

/** Sends it as large as the place is, then as large as the limit that is named, until it is taken. */
const attack = async (
  ground: Ground,
  { name, parts: most, size, make }: Growing,
  counts: { requests: number; taken: number; refused: number },
): Promise<{ faults: Fault[]; ms: number }> => {
  let worst = 0
  for (let [parts, left] = [most, STEPS]; ; left--) {
    const request = make(parts)
    let { answer, faults } = await observe(ground, name, parts, request)
    // A busy machine may be the reason: what takes long, takes long again.
    if (faults.some(({ isTime }) => isTime)) ({ answer, faults } = await observe(ground, name, parts, request))
    worst = Math.max(worst, answer.ms)
    counts.requests++
    const isRefused = answer.status >= 400
    counts[isRefused ? 'refused' : 'taken']++
    if (!isRefused || faults.length > 0 || left === 0 || parts === 1) return { faults, ms: worst }
    const limit = ground.limits[/--limit (\w+)=N/.exec(answer.text)?.[1] ?? ''] ?? FEW
    const fitting = [limit, Math.floor(limit / size), Math.floor(parts / 4)].find(it => it < parts && it > 0)
    if (fitting === undefined) return { faults, ms: worst }
    if (limit === FEW) left = 1
    parts = fitting
  }
}

const STEPS = 4
/** What is refused however large it is may be taken in smaller numbers. */
const FEW = 1_000

const observe = async (
  { victim, watch, send }: Ground,
  name: string,
  parts: number,
  request: Request,
): Promise<{ answer: Answer; faults: Fault[] }> => {
  // What one before it left behind is not its own.
  await watch.lap()
  let answer = await send(request)
  // A server may close a connection of which it does not read the whole body; another one shows whether it always does.
  for (let again = 0; again < 2 && answer.status === 0 && answer.ms < MAX_ANSWER_MS && victim.alive(); again++)
    answer = await send(request)
  const seen = await watch.lap()
  const how = `${name} × ${parts} (${request.path.length + (request.body?.length ?? 0)} bytes): ${answer.status}, ${answer.bytes} bytes after ${Math.round(answer.ms)} ms; ${showSeen('meanwhile', seen)}`
  log('%s', how)
  const what = (what: string, isTime = false): Fault => ({
    what,
    how: isTime ? how : `${how}; ${brief(answer.text, 300)}`,
    ...(isTime && { isTime }),
  })
  if (!victim.alive()) {
    await pause(100)
    return { answer, faults: [what('the process ends')] }
  }
  const peak = victim.usage()?.peak ?? 0
  return {
    answer,
    faults: [
      ...times(seen, what),
      ...(answer.status === 401 || answer.status === 403 ? [what('the attack may not')] : []),
      ...(answer.status === 0 ? [what('no answer')] : []),
      ...(answer.status >= 500 && !UNABLE.has(answer.status) ? [what(`a ${answer.status}`)] : []),
      ...(answer.ms > MAX_ANSWER_MS ? [what('an answer takes too long', true)] : []),
      ...(peak > MAX_MEMORY ? [what(TOO_MUCH_MEMORY)] : []),
      ...(answer.bytes > (answer.status >= 400 ? MAX_REFUSAL : MAX_ANSWER) ? [what('an answer is too large')] : []),
    ],
  }
}

/** What the platform lacks, and a server that says it is not ready. */
const UNABLE = new Set([501, 503])

const times = ({ health, term, status }: Seen, what: (text: string, isTime?: boolean) => Fault): Fault[] => {
  if (health.max > FROZEN_MS || health.failed > 0) return [what(FROZEN)]
  if (term.failed + status.failed > 0) return [what('another account is refused')]
  if (health.max > MAX_MS) return [what('/health waits', true)]
  if (health.runs >= LEAST_RUNS && health.p99 > MAX_P99_MS) return [what('/health is slow', true)]
  return term.max > MAX_TERM_MS ? [what('another account waits', true)] : []
}

const FROZEN = 'the server freezes'
const TOO_MUCH_MEMORY = 'it takes too much memory'
const LASTING = new Set([FROZEN, TOO_MUCH_MEMORY])
