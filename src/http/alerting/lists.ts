import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { checkListName, listInUse, type StoredList, unknownList } from '../../rules/list-store.ts'
import { parseListValues } from '../../rules/list-values.ts'
import { jsonResponse } from '../answer.ts'
import { readRequestBody } from '../body.ts'
import { actorOf, type RequestContext } from '../context.ts'
import { answerSchema, schemaRef } from '../openapi/schema.ts'
import { pageSizeOf } from './deliveries.ts'
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
  example: '"0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C"\n',
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
      checkListName(name)
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

const readListValues = async (c: RequestContext, limits: Limits): Promise<string[]> =>
  parseListValues(await readRequestBody(c, limits), limits)
