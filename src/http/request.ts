import * as v from 'valibot'
import { isRecord } from '../lib/arrays.ts'
import { messageOf, refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { parseTime } from '../lib/time.ts'
import type { Limits } from '../limits/index.ts'
import { shortenText } from '../query/json.ts'
import { createInputPlace, type InputPlace, quotedList, type RuleFault, reportExpected } from '../rules/input.ts'
import type { StoredRule } from '../rules/rule.ts'
import type { Alerting } from './alerting/service.ts'
import { readRequestBody, readWithin } from './body.ts'
import { type Handler, header, type RequestContext } from './context.ts'
import {
  type Answers,
  answerSchema,
  COMMON_PARAMETERS,
  type Operation,
  type Schema,
  schemaRef,
  type Tag,
} from './openapi/schema.ts'

/** Reads optional URL parameters; refuses wrong values by the parameter's name. */

export const integerParameter = (
  name: string,
  text: string | undefined,
  { min = 1, max = Number.MAX_SAFE_INTEGER } = {},
): number | undefined => {
  if (text === undefined) return undefined
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw wrong(name, text, `an integer ${bounds}`)
}

/** Epoch milliseconds. As everywhere, a time without a zone is UTC. */
export const timeParameter = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const at = parseTime(text)
  if (at === undefined) throw wrong(name, text, 'a time in ISO 8601 such as "2024-05-17T12:00:00Z"')
  return at
}

export const choiceParameter = <const T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined => {
  if (text === undefined || known.includes(text as T)) return text as T | undefined
  throw wrong(name, text, quotedList(known, 'or'), didYouMean(shortenText(text), known))
}

export const flagParameter = (name: string, text: string | undefined): boolean =>
  text === '' || choiceParameter(name, text, ['true', 'false']) === 'true'

export const addressParameter = (name: string, text: string | undefined): string | undefined =>
  hexParameter(name, text, 20, 'an address')

/** Lower case. */
export const hexParameter = (
  name: string,
  text: string | undefined,
  bytes: number,
  what: string,
): string | undefined => {
  if (text === undefined) return undefined
  if (/^0x[0-9a-f]+$/i.test(text) && text.length === 2 + 2 * bytes) return text.toLowerCase()
  throw wrong(name, text, `${what} of 0x and ${2 * bytes} hex digits`)
}

const wrong = (name: string, text: string, what: string, remedy = '') =>
  refuse(
    'illegal_argument_exception',
    `The URL parameter [${name}] must be ${what}, not ${shortenText(JSON.stringify(text))}.${remedy}`,
  )

/** The rule of the path; refuses an unknown one or another account's. */
export const ruleOf = (c: RequestContext, { rules }: Alerting): StoredRule => {
  const id = c.req.param('id')!
  return storedRule(rules, c.get('account').id, /^[1-9]\d{0,14}$/.test(id) ? Number(id) : id)
}

/** Refuses a number that the account does not have. */
export const storedRule = (rules: Alerting['rules'], account: number, id: number | string): StoredRule => {
  const rule = typeof id === 'number' ? rules.get(account, id) : undefined
  if (rule) return rule
  throw refuse('resource_not_found_exception', `This account has no rule ${id}: its rules are at /alerting/rules/.`)
}

/** Also refuses an unfit rule. */
export const fitRuleOf = (c: RequestContext, alerting: Alerting): StoredRule => {
  const rule = ruleOf(c, alerting)
  if (rule.unfit !== undefined) throw refuse('validation_exception', rule.unfit)
  return rule
}

/** Parses the body; undefined without one. */
const readJsonBody = async (c: RequestContext, limits: Limits): Promise<unknown> => {
  const body = await readRequestBody(c, limits)
  if (body === undefined) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch (error) {
    throw refuse('parsing_exception', `The body is not JSON: ${messageOf(error)}`, error)
  }
}

/** The body as an object. */
const readObject = async (c: RequestContext, limits: Limits): Promise<Record<string, unknown>> => {
  const body = await readJsonBody(c, limits)
  if (isRecord(body)) return body
  throw refuse('parsing_exception', `The body must be a JSON object${body === undefined ? ', and is missing' : ''}.`)
}

/** Factor for bodies around a rule: clients indent, and send back what answers add. */
export const AROUND = 2

/** Reads the body of a rule; refuses more than any rule could take. */
export const readRuleBody = (c: RequestContext, limits: Limits): Promise<Record<string, unknown>> =>
  readWithin(c, 'rule', limits, limits => readObject(c, limits), AROUND * limits.rule)

type ShapeMembers<E extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<E, undefined>>

/** Checks members against each other, each time that one was read. */
type CheckMembers<E extends v.ObjectEntries> = (
  place: InputPlace,
  members: Partial<ShapeMembers<E>>,
  read: keyof E,
) => void

/** Reads a small body by its shape: members, or all faults. A missing body has no members. */
export const readMembers = async <E extends v.ObjectEntries>(
  c: RequestContext,
  limits: Limits,
  shape: v.StrictObjectSchema<E, undefined>,
  check?: CheckMembers<E>,
): Promise<{ members: ShapeMembers<E>; faults: [] } | { faults: RuleFault[] }> => {
  const known = Object.keys(shape.entries)
  const body = (await readWithin(c, 'shortBody', limits, limits => readJsonBody(c, limits))) ?? {}
  const faults: RuleFault[] = []
  const place = createInputPlace(body, faults, { label: 'The body' })
  if (!isRecord(body)) throw refuse('parsing_exception', 'The body must be a JSON object, or be left out.')
  for (const name of Object.keys(body)) {
    if (place.full()) break
    if (!known.includes(name))
      place
        .member(name)
        .fault(
          `${shortenText(name)} is not known here: the body has ${quotedList(known)}.${didYouMean(shortenText(name), known)}`,
        )
  }
  const members = readShape(shape, place, check)
  return faults.length === 0 ? { members: members as ShapeMembers<E>, faults: [] } : { faults }
}

/** Members of an object that fit the shape; others become faults. Unknown members are ignored. */
export const readShape = <E extends v.ObjectEntries>(
  { entries }: v.StrictObjectSchema<E, undefined>,
  place: InputPlace,
  check: CheckMembers<E> = () => {},
): Partial<ShapeMembers<E>> => {
  const members: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(entries)) {
    const member = place.member(name)
    const { output, issues } = v.safeParse(shape, member.value, { abortPipeEarly: true })
    if (!issues) members[name] = output
    for (const { path = [], message, type } of issues ?? []) {
      const at = path.reduce((at, { key }) => at.element(key as number), member)
      reportExpected(at, message, remedyOf(at.value, type))
    }
    check(place, members as Partial<ShapeMembers<E>>, name)
  }
  return members as Partial<ShapeMembers<E>>
}

/** Names a mistake that clients often make. */
const remedyOf = (value: unknown, wanted: string): string => {
  if (wanted === 'string' && typeof value === 'number') return `Put it in quotes: "${value}".`
  if (wanted === 'number' && typeof value === 'string' && /^-?\d+$/.test(value)) return 'Write it without quotes.'
  return Number.isInteger(value) && !Number.isSafeInteger(value) && typeof value === 'number' && wanted !== 'boolean'
    ? 'Integers above 2^53 - 1 lose digits in JSON.'
    : ''
}

/** Reads URL parameters of these names; refuses others, except those that clients always send. */
export const readParameters = <T extends string>(
  c: RequestContext,
  known: readonly T[],
): Partial<Record<T, string>> => {
  const start = c.req.url.indexOf('?')
  const found: Partial<Record<T, string>> = {}
  if (start < 0) return found
  for (const [name, value] of new URLSearchParams(c.req.url.slice(start))) {
    if ((COMMON_PARAMETERS as readonly string[]).includes(name)) continue
    if (!known.includes(name as T))
      throw refuse(
        'illegal_argument_exception',
        `The URL parameter [${shortenText(name)}] is not known: there are ${quotedList(known)}.${didYouMean(shortenText(name), known)}`,
      )
    found[name as T] = value
  }
  return found
}

export const etagOf = ({ revision }: StoredRule): string => `"${revision}"`

/** Refuses a change to another revision than the one that `If-Match` names. */
export const checkIfMatch = (c: RequestContext, rule: StoredRule): void => {
  const wanted = header(c, 'if-match')
  if (wanted === undefined || namesRevision(wanted, rule)) return
  throw refuse(
    'precondition_failed_exception',
    `Rule ${rule.id} is at revision ${etagOf(rule)} now, which If-Match does not name: read it again, and apply your change to that.`,
  )
}

/** Whether the client has this revision. */
export const hasCurrentRevision = (c: RequestContext, rule: StoredRule): boolean => {
  const known = header(c, 'if-none-match')
  return known !== undefined && namesRevision(known, rule)
}

/** Accepts weak tags too: proxies weaken ours when they compress, and a revision never changes. */
const namesRevision = (tags: string, rule: StoredRule): boolean =>
  tags.trim() === '*' || tags.split(',').some(tag => tag.trim().replace(/^W\//, '') === etagOf(rule))

/** A method of a path outside of `…/es`: its description and handler. */
export interface Route<Services> extends Operation {
  handler(services: Services): Handler
}

type About<Q extends string> = Partial<Pick<Operation, 'open' | 'values' | 'headers' | 'body'>> & {
  query?: readonly Q[]
  /** All described parameters, where they differ from those that clients always send. */
  described?: readonly string[]
  /** All answers, or the schema's name of the one with status 200. */
  answers: string | Answers
}

/** Makes routes of one part of the description that share services. */
export const routesOf =
  <Services>(tag: Tag) =>
  <const Q extends string = never>(
    method: Operation['method'],
    path: string,
    doc: string,
    { query = [], described = [...query, ...COMMON_PARAMETERS], answers, ...about }: About<Q>,
    /** `parameters` reads those of the URL and refuses unknown ones. */
    handler: (services: Services, parameters: (c: RequestContext) => Partial<Record<Q, string>>) => Handler,
  ): Route<Services> => ({
    ...{ method, path, tag, doc, query: described, ...about },
    answers: typeof answers === 'string' ? { 200: answerSchema(schemaRef(answers)) } : answers,
    handler: services => handler(services, c => readParameters(c, query)),
  })

/** A body of JSON. */
export const jsonBody = (schema: Schema, example: unknown, required = true) => ({ schema, example, required })
