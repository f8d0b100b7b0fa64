import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { Pool } from 'undici'
import { KINDS, type Kind, lookup, queryPaths } from '../../src/mapping/index.ts'
import { arbitraryQuery } from '../../test/support/queries.ts'
import { loadScenarios, parseLossless, stringifyLossless } from '../../test/support/scenarios.ts'
import type { Random } from '../lib/random.ts'
import { checkAnswer, checkRelations, type Totals } from './answer.ts'
import { type Attack, brief, chance, pick, type Try, tryEach } from './attack.ts'
import { inheritingRequest, mutateRequest, plainRequest, type Seed, type Sent } from './body.ts'
import { isRaw, isRecord, readJson, type Value } from './json.ts'
import { INHERITED, oddityOf } from './mutate.ts'
import type { Shown } from './reading.ts'
import { richSeeds } from './rich-seeds.ts'
import { pause, SCENARIO_NETWORK, type Victim } from './server.ts'

const TRIES = 50_000
const WORKERS = 8
const HANG_MS = 1_000
/** The share of judged answers that are also held against the totals they must fit. */
const RELATED = 0.03

const DEMO_NETWORK = 'ethereum/demo/local'
const DEMO_BLOCKS = 90

/**
 * Hostile bodies: those of the scenarios and random queries, a few places changed. No answer may be a 5xx, take more than a second or be
 * a wrong 200: each is held against a second reading of the query, and against other queries whose totals it must fit.
 */
export const bodies: Attack = {
  name: 'bodies',
  is: 'mutated query bodies: no 5xx, no hang, no wrong 200',
  async run(context) {
    const { serve, folder, seed } = context
    const demo = join(folder, 'demo.ndjson')
    writeFileSync(demo, demoLines().join('\n'))
    const scenarios = new URL('../../test/scenario/blocks.ndjson', import.meta.url).pathname
    const victim = await serve({ packs: { [SCENARIO_NETWORK]: scenarios, [DEMO_NETWORK]: demo } })
    const client = createClient(victim)
    const documents = await readDocuments(client)
    const plain = seedsOf(documents, seed)
    const rich = richSeeds(DEMO_NETWORK, documents.get(DEMO_NETWORK)!, seed)
    const odd = oddityOf(wordsOf([...plain, ...rich]))
    const named = byOption([...plain, ...rich])
    /** One in four goes through all options and all names that objects inherit; the others are mutated at random. */
    const requestOf = (number: number, dice: Random): Sent => {
      const turn = number >> 2
      const seeds = () => pick(dice, [plain, rich, pick(dice, named), pick(dice, named)])
      if (number % 4 > 0) return mutateRequest(pick(dice, seeds()), dice, odd)
      const round = Math.floor(turn / named.length)
      const inherited = INHERITED[(turn + round) % INHERITED.length]!
      return inheritingRequest(pick(dice, named[turn % named.length]!), dice, inherited)
    }

    const counts = { ok: 0, checked: 0, related: 0 }
    const totals =
      (network: string, entities: string): Totals =>
      async query => {
        const { status, text } = await client.send(network, entities, `{"size":0,"query":${query}}`)
        return status === 200 ? (JSON.parse(text) as { hits: { total: number } }).hits.total : undefined
      }

    const attempt = async ({ attempt: number, random: dice, find: found }: Try): Promise<number | false> => {
      const sent = requestOf(number, dice)
      const find = (what: string, more: string) => found(what, `${more}\n    ${showSent(sent)}`)
      let answer = await client.request(sent, chance(dice, 0.02))
      // The machine may be busy: what hangs, hangs again.
      for (let again = 1; again <= 3 && answer.ms > HANG_MS; again++) {
        await pause(again * 1_000)
        answer = await client.request(sent, false)
      }
      if (answer.ms > HANG_MS) find('an answer takes more than a second', `${Math.round(answer.ms)} ms`)
      await judged(sent, answer, dice, find)
      return victim.alive() && answer.ms
    }
    const judged = async (sent: Sent, answer: Answer, dice: Random, find: (what: string, more: string) => void) => {
      if (answer.status === 0) return find('no answer', answer.text)
      if (answer.status >= 500) return find(`a ${answer.status}`, brief(answer.text))
      if (answer.status !== 200) {
        const fault = shapeFault(answer, sent.path?.includes('filter_path=') === true)
        if (fault !== undefined) find('an error in another shape', `${fault}: ${brief(answer.text)}`)
        return
      }
      counts.ok++
      if (sent.mustRefuse !== undefined) return find('a 200 for what must be refused', sent.mustRefuse)
      const kinds = kindsOf(sent.entities)
      if (sent.text === undefined || kinds === undefined) return
      const { fault, checked } = checkAnswer(sent.text, kinds, answer.text, documents.get(sent.network)!)
      if (fault !== undefined) return find('a wrong 200', fault)
      if (checked) counts.checked++
      if (checked && !chance(dice, RELATED)) return
      counts.related++
      const body = readJson(sent.text)
      const broken = await checkRelations(body, kinds, totals(sent.network, sent.entities))
      if (broken !== undefined) find('a wrong 200: totals do not add up', broken)
    }

    const made = await tryEach(context, TRIES, attempt, WORKERS)
    await client.close()
    const share = Math.round((100 * counts.checked) / Math.max(1, counts.ok))
    const note = `${counts.ok} of ${made.tries} were answered by 200; ${counts.checked} of these (${share} %) held against a second reading, ${counts.related} against what they add up to`
    return { ...made, notes: [note] }
  },
}

const demoLines = (): string[] =>
  gunzipSync(readFileSync(new URL('../../data/demo.ndjson.gz', import.meta.url)))
    .toString()
    .split('\n')
    .slice(0, DEMO_BLOCKS)

export interface Answer {
  status: number
  text: string
  ms: number
  type: string
}

/** Asks over few connections that stay, and now and then over one of its own. */
const createClient = (victim: Victim) => {
  const pool = new Pool(victim.url, { connections: WORKERS, headersTimeout: 15_000, bodyTimeout: 15_000 })
  const request = async (sent: Sent, alone: boolean): Promise<Answer> => {
    const start = performance.now()
    try {
      const { statusCode, headers, body } = await pool.request({
        method: sent.method as 'POST',
        path: pathOf(sent),
        headers: { ...sent.headers, authorization: `Bearer ${victim.tokens[0]}` },
        body: sent.body,
        reset: alone,
      })
      const text = await body.text()
      return { status: statusCode, text, ms: performance.now() - start, type: String(headers['content-type']) }
    } catch (error) {
      // The server may close a connection of which it did not read the body; a new one shows whether it lives.
      if (!victim.alive()) await pause(100)
      return { status: 0, text: String(error), ms: performance.now() - start, type: '' }
    }
  }
  const send = (network: string, entities: string, text: string) =>
    request(plainRequest({ network, entities, body: undefined }, text), false)
  return { request, send, close: () => pool.close() }
}

export type Documents = Map<string, Record<Kind, Shown[]>>

const pathOf = ({ network, entities, path = `${entities}/search/` }: Sent): string => `/${network}/es/${path}`

const readDocuments = async (client: ReturnType<typeof createClient>): Promise<Documents> => {
  const documents: Documents = new Map()
  for (const network of [SCENARIO_NETWORK, DEMO_NETWORK]) {
    const entries: [Kind, Shown[]][] = []
    for (const kind of KINDS) {
      const { status, text } = await client.send(network, kind, '{"size":-1,"sort":"_doc"}')
      if (status !== 200) throw new Error(`the documents cannot be read: ${status} ${text}`)
      const { hits } = (parseLossless(text) as { hits: { total: number; hits: Shown[] } }).hits
      entries.push([kind, hits])
    }
    documents.set(network, Object.fromEntries(entries) as Record<Kind, Shown[]>)
  }
  return documents
}

/** Bodies to begin with. Those of the scenarios come as they are, mistakes and all. */
const seedsOf = (documents: Documents, seed: number): Seed[] => {
  const scenarios = loadScenarios().flatMap(({ cases }) =>
    cases.flatMap(({ request: { entities, body } }) => {
      const value = readJson(typeof body === 'string' ? body : stringifyLossless(body ?? {}))
      return value === undefined ? [] : [{ network: SCENARIO_NETWORK, entities, body: value }]
    }),
  )
  const random = KINDS.flatMap(kind =>
    fc
      .sample(arbitraryQuery(kind, documents.get(DEMO_NETWORK)![kind].slice(0, 200)), { numRuns: 40, seed })
      .map(query => ({
        network: DEMO_NETWORK,
        entities: kind,
        body: readJson(stringifyLossless({ query, size: 50 })),
      })),
  )
  return [...scenarios, ...random]
}

/** Every name and every scalar of the bodies, and every field. */
const wordsOf = (seeds: readonly Seed[]): unknown[] => {
  const words = new Map<string, unknown>()
  const add = (word: unknown) => void words.set(JSON.stringify(word), word)
  for (const { body } of seeds) visit(body as Value, add, add)
  for (const kind of KINDS) for (const path of queryPaths(kind).keys()) add(path)
  return [...words.values()]
}

const visit = (value: Value, onName: (name: string) => void, onScalar: (value: Value) => void): void => {
  if (Array.isArray(value)) for (const inner of value) visit(inner, onName, onScalar)
  else if (isRecord(value)) {
    for (const [name, inner] of Object.entries(value)) {
      onName(name)
      visit(inner, onName, onScalar)
    }
  } else if (typeof value === 'string' || isRaw(value)) onScalar(value)
}

/** For each name that is no field's, the bodies that have it, to be changed there. */
const byOption = (seeds: readonly Seed[]): Seed[][] => {
  const found = new Map<string, Seed[]>()
  const isField = (name: string) => KINDS.some(kind => lookup(kind, name) !== undefined)
  for (const seed of seeds) {
    const names = new Set<string>()
    const add = (name: string) => void names.add(name)
    visit(seed.body as Value, add, () => {})
    for (const name of names) if (!isField(name)) found.set(name, [...(found.get(name) ?? []), { ...seed, name }])
  }
  return [...found.values()]
}

const kindsOf = (entities: string): Kind[] | undefined => {
  const kinds = entities.split(',').map(name => KINDS.find(kind => kind === name))
  return kinds.includes(undefined) || new Set(kinds).size < kinds.length ? undefined : (kinds as Kind[])
}

/** What is wrong with the answer to what was refused. */
const shapeFault = ({ status, text, type }: Answer, isFiltered: boolean): string | undefined => {
  if (!type.startsWith('application/json')) return `its type is ${type}`
  const answer = readJson(text)
  if (isRecord(answer) && status === 404 && (answer.found === false || answer.matched === false)) return undefined
  // `filter_path` may leave out the error.
  if (isFiltered && isRecord(answer) && answer.error === undefined) return undefined
  if (!isRecord(answer) || !isRecord(answer.error)) return 'there is no error'
  const { type: code, reason, root_cause } = answer.error
  if (typeof code !== 'string' || !/^[a-z_]+$/.test(code)) return 'the error has no type'
  if (typeof reason !== 'string' || reason.length < 10) return 'the error has no reason'
  if (reason.length > LONGEST_REASON) return `the reason has ${reason.length} characters`
  if (!Array.isArray(root_cause) || root_cause.length === 0) return 'the error has no root cause'
  return isRaw(answer.status) && Number(answer.status.raw) === status ? undefined : 'the status is another one'
}

const LONGEST_REASON = 20_000

const showSent = (sent: Sent): string => {
  const { method, headers, body, changes } = sent
  const text = body.toString()
  const isText = Buffer.from(text).equals(body) && !/\p{Cc}/u.test(text)
  const shown = isText ? brief(text, 1_200) : `base64 ${brief(body.toString('base64'), 600)}`
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${changes.join(', ')}\n    ${method} ${pathOf(sent)} [${more.join('; ')}] ${shown}`
}
