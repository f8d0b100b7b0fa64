import { messageOf, refuse } from '../../lib/errors.ts'
import { createPauses } from '../../lib/scheduling/event-loop.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { shortenText } from '../../query/json.ts'
import { checkListValue, LIST_NAME, type StoredList, unknownList } from '../../rules/list-store.ts'
import { jsonResponse } from '../answer.ts'
import { readRequestBody } from '../body.ts'
import { actorOf, type RequestContext } from '../context.ts'
import { answerSchema, schemaRef } from '../openapi/schema.ts'
import { pageSizeOf } from './deliveries.ts'
import { linesOf } from './rules.ts'
import { type Alerting, ruleRoute } from './service.ts'

const LISTS_PATH = '/alerting/lists'
const LIST_PATH = `${LISTS_PATH}/{name}`

export const listsRoute = ruleRoute(
  'get',
  LISTS_PATH,
  'All watch lists of the account, by name.',
  { answers: 'WatchLists' },
  ({ rules }) =>
    c =>
      jsonResponse({ lists: rules.lists.all(c.get('account').id).map(list => listAnswer(rules, list)) }),
)

export const listRoute = ruleRoute('get', LIST_PATH, 'One watch list.', { answers: 'WatchList' }, alerting => c => {
  return jsonResponse(listAnswer(alerting.rules, watchListOf(c, alerting)))
})

const VALUES_BODY = {
  schema: {
    type: 'string',
    description: 'A value in each line, plain or as a JSON string; or one JSON list of strings.',
  },
  example: '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C\n',
  type: 'application/x-ndjson',
  required: true,
}

export const putListRoute = ruleRoute(
  'put',
  LIST_PATH,
  'Creates a watch list, or puts these values in the place of all that it has. Rules see it from the next block on.',
  {
    body: VALUES_BODY,
    answers: {
      200: answerSchema(schemaRef('WatchList')),
      201: answerSchema(schemaRef('WatchList'), 'The list was created.'),
    },
  },
  ({ rules, limits }) =>
    async c => {
      const name = c.req.param('name')!
      if (!LIST_NAME.test(name))
        throw refuse(
          'validation_exception',
          `A list has a name of 1 to 64 letters, digits, "_", "." and "-", which begins with a letter or digit, not ${shortenText(JSON.stringify(name))}.`,
        )
      const values = await readListValues(c, limits)
      const { list, created } = await rules.lists.replace(c.get('account').id, name, values, actorOf(c))
      await rules.synced()
      return jsonResponse(listAnswer(rules, list), created ? 201 : 200)
    },
)

const changeRoute = (change: 'add' | 'remove', doc: string) =>
  ruleRoute(
    'post',
    `${LIST_PATH}/${change}`,
    doc,
    { body: VALUES_BODY, answers: 'WatchListChange' },
    alerting => async c => {
      const { rules, limits } = alerting
      const { account, name } = watchListOf(c, alerting)
      const values = await readListValues(c, limits)
      const options = { added: change === 'add', by: actorOf(c) }
      const { list, count } = await rules.lists.change(account, name, values, options)
      await rules.synced()
      return jsonResponse({ count, size: list.size, revision: list.revision })
    },
  )

export const addToListRoute = changeRoute('add', 'Adds values to a watch list. `count` are those that were not in it.')
export const removeFromListRoute = changeRoute(
  'remove',
  'Removes values from a watch list. `count` are those that were in it.',
)

export const listValuesRoute = ruleRoute(
  'get',
  `${LIST_PATH}/values`,
  'Values of a watch list, in a fixed order; with `value`, only that one, if the list has it.',
  { query: ['size', 'after', 'value'], answers: 'WatchListValues' },
  (alerting, parameters) => c => {
    const { lists } = alerting.rules
    const list = watchListOf(c, alerting)
    const { size, after, value } = parameters(c)
    const most = pageSizeOf(size, 1_000)
    if (value !== undefined) return jsonResponse({ values: lists.has(list, value) ? [value] : [], next: null })
    const values = lists.values(list, { after, size: most })
    return jsonResponse({ values, next: values.length < most ? null : values.at(-1) })
  },
)

export const removeListRoute = ruleRoute(
  'delete',
  LIST_PATH,
  'Deletes a watch list, unless rules use it.',
  { answers: { 204: { description: 'The list was deleted.' } } },
  alerting => async c => {
    const { rules } = alerting
    const { account, name } = watchListOf(c, alerting)
    const users = await rules.lists.remove(account, name, actorOf(c))
    if (users.length > 0) throw refuse('validation_exception', listInUse(name, users))
    await rules.synced()
    return new Response(null, { status: 204 })
  },
)

/** Why a list cannot be deleted. */
export const listInUse = (name: string, users: readonly { id: number; name: string }[]): string => {
  const named = users.slice(0, MAX_NAMED_USERS).map(rule => `${rule.id} (${shortenText(rule.name)})`)
  const more = users.length > named.length ? ' and more' : ''
  return `The list ${name} is used by ${users.length === 1 ? 'rule' : 'rules'} ${named.join(', ')}${more}: change or delete them first.`
}

const MAX_NAMED_USERS = 10

/** The list of the path; refuses an unknown one or another account's. */
const watchListOf = (c: RequestContext, { rules }: Alerting): StoredList => {
  const name = c.req.param('name')!
  const list = rules.lists.get(c.get('account').id, name)
  if (!list) throw unknownList(name)
  return list
}

const listAnswer = ({ lists }: Alerting['rules'], list: StoredList) => ({
  name: list.name,
  size: list.size,
  revision: list.revision,
  createdAt: new Date(list.createdAt).toISOString(),
  updatedAt: new Date(list.updatedAt).toISOString(),
  rules: lists.usersOf(list),
})

const readListValues = async (c: RequestContext, limits: Limits): Promise<string[]> => {
  const body = await readRequestBody(c, limits)
  const pause = createPauses()
  const values: string[] = []
  for (const value of listTexts(body)) {
    if (values.length === limits.listValues) throw overLimit('listValues', limits)
    values.push(checkListValue(value, limits, `[${values.length}]`))
    await pause()
  }
  if (values.length === 0)
    throw refuse('parsing_exception', 'The body has no value: send one in each line, or a JSON list of strings.')
  return values
}

const BRACKET_BYTE = 91

function* listTexts(body: Uint8Array | undefined): Generator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // Copied, since TextDecoder refuses shared memory.
  const textOf = (bytes: Uint8Array, at: string) => {
    try {
      return decoder.decode(Uint8Array.from(bytes)).trim()
    } catch (error) {
      throw refuse('parsing_exception', `${at} is not UTF-8.`, error)
    }
  }
  if (body?.find(byte => byte > SPACE_BYTE) === BRACKET_BYTE) {
    const list = parsedValue(textOf(body, 'The body'), 'The body')
    for (const [index, value] of (list as unknown[]).entries()) yield valueAsText(value, `[${index}]`)
    return
  }
  let index = 0
  for (const line of linesOf(body)) {
    const at = `[${index++}]`
    const text = textOf(line, at)
    if (text.startsWith('{')) throw refuse('parsing_exception', `${at} is an object: write the value alone.`)
    if (text !== '') yield text.startsWith('"') ? valueAsText(parsedValue(text, at), at) : text
  }
}

const SPACE_BYTE = 32

const parsedValue = (text: string, at: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw refuse('parsing_exception', `${at} is not JSON: ${messageOf(error)}.`, error)
  }
}

const valueAsText = (value: unknown, at: string): string => {
  if (typeof value === 'string') return value
  throw refuse('validation_exception', `${at} must be a string, not ${shortenText(JSON.stringify(value))}.`)
}
