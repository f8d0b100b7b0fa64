import { refuse } from '../../lib/errors.ts'
import { schemaOf } from '../../query/keys.ts'
import type { OpenedPit, PitOpening } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { answerSchema, orError, schemaRef } from '../openapi/schema.ts'
import {
  callTarget,
  type EndpointCall,
  type EsEndpoint,
  jsonAnswer,
  keysOf,
  ONE_SHARD,
  textKey,
  textsKey,
} from './endpoint.ts'
import { dialectOf } from './search.ts'

const opened = async (call: EndpointCall, dialect: PitOpening['dialect']): Promise<OpenedPit> => {
  const { network, entities } = callTarget(call)
  // Some clients send an empty object.
  await keysOf(call, {})
  const keepAlive = call.parameters.get('keep_alive')
  if (!keepAlive)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: keep alive not specified; write ?keep_alive=1m.',
    )
  return call.service.cursors.openPit({ network, entities, keepAlive, dialect, ...askedBy(call.c) })
}

const accountOf = ({ c, network }: EndpointCall) => ({ network, account: askedBy(c).account })

const CLOSED_ANSWERS = { 200: answerSchema(schemaRef('Closed')), 404: orError('Closed', 'There was none.') }

const openPit: EsEndpoint = {
  paths: ['{index}/_pit'],
  methods: ['POST'],
  doc: 'Opens a point in time, as Elasticsearch does.',
  parameters: ['keep_alive', 'preference', 'routing'],
  tag: 'Search',
  answers: 'PointInTime',
  handle: async call => jsonAnswer({ id: (await opened(call, 'elasticsearch')).id }),
}

const OF_PIT = { id: textKey }

const closePit: EsEndpoint = {
  paths: ['_pit'],
  methods: ['DELETE'],
  doc: 'Closes a point in time.',
  tag: 'Search',
  body: { schema: schemaOf(OF_PIT, 'id') },
  answers: CLOSED_ANSWERS,
  async handle(call) {
    const { id } = await keysOf(call, OF_PIT)
    if (!id) throw refuse('illegal_argument_exception', 'search context id is not provided: write {"id": "…"}.')
    const freed = call.service.cursors.close({ ...accountOf(call), kind: 'pit', ids: [id] })
    return jsonAnswer({ succeeded: freed.length > 0, num_freed: freed.length }, freed.length > 0 ? 200 : 404)
  },
}

const openPointInTime: EsEndpoint = {
  paths: ['{index}/_search/point_in_time'],
  methods: ['POST'],
  doc: 'Opens a point in time, as OpenSearch does.',
  parameters: ['keep_alive', 'allow_partial_pit_creation', 'preference', 'routing'],
  answers: 'OpenedPointInTime',
  async handle(call) {
    const { id, opened: creation_time } = await opened(call, 'opensearch')
    return jsonAnswer({ pit_id: id, _shards: ONE_SHARD, creation_time })
  },
}

const OF_PITS = { pit_id: textsKey }

const closePointsInTime: EsEndpoint = {
  paths: ['_search/point_in_time'],
  methods: ['DELETE'],
  doc: 'Closes points in time.',
  body: { schema: schemaOf(OF_PITS, 'pit_id') },
  answers: 'ClosedPointsInTime',
  async handle(call) {
    const { pit_id: ids } = await keysOf(call, OF_PITS)
    if (ids.length === 0)
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: no pit ids specified;')
    call.service.cursors.close({ ...accountOf(call), kind: 'pit', ids })
    // As in OpenSearch, what was closed already is closed as well.
    return jsonAnswer({ pits: ids.map(pit_id => ({ successful: true, pit_id })) })
  },
}

const closeAllPointsInTime: EsEndpoint = {
  paths: ['_search/point_in_time/_all'],
  methods: ['DELETE'],
  doc: 'Closes all points in time of the account.',
  answers: 'ClosedPointsInTime',
  handle(call) {
    const freed = call.service.cursors.close({ ...accountOf(call), kind: 'pit', ids: 'all' })
    return jsonAnswer({ pits: freed.map(pit_id => ({ successful: true, pit_id })) })
  },
}

const listPointsInTime: EsEndpoint = {
  paths: ['_search/point_in_time/_all'],
  methods: ['GET'],
  doc: 'The open points in time of the account.',
  answers: 'PointsInTime',
  handle(call) {
    const pits = call.service.cursors.pits(accountOf(call))
    return jsonAnswer({
      pits: pits.map(({ id, opened, keepAliveMs }) => ({ pit_id: id, creation_time: opened, keep_alive: keepAliveMs })),
    })
  },
}

const SCROLL_PATHS = ['_search/scroll', '_search/scroll/{id}']
const OF_SCROLL = { scroll_id: { ...textKey, schema: textsKey.schema }, scroll: textKey }
const OF_SCROLLS = { scroll_id: textsKey }

const scroll: EsEndpoint = {
  paths: SCROLL_PATHS,
  methods: ['GET', 'POST'],
  doc: 'The next page of a scroll. The id is in the body, the URL or the path.',
  parameters: ['scroll', 'scroll_id', 'rest_total_hits_as_int', 'typed_keys'],
  tag: 'Search',
  body: { schema: schemaOf(OF_SCROLL) },
  answers: 'SearchAnswer',
  async handle(call) {
    const { c, service, log, network, path, parameters } = call
    const keys = await keysOf(call, OF_SCROLL)
    const id = keys.scroll_id ?? parameters.get('scroll_id') ?? path.get('id')
    if (!id) throw invalidCursor('scrollId is missing')
    const asked = { network, id, scroll: keys.scroll ?? parameters.get('scroll') }
    return sendAnswer(c, log, await service.cursors.scroll({ ...asked, dialect: dialectOf(call), ...askedBy(c) }))
  },
}

const clearScroll: EsEndpoint = {
  paths: SCROLL_PATHS,
  methods: ['DELETE'],
  doc: 'Closes one scroll, several, or with `_all` all scrolls of the account.',
  parameters: ['scroll_id'],
  tag: 'Search',
  body: { schema: schemaOf(OF_SCROLLS) },
  answers: CLOSED_ANSWERS,
  async handle(call) {
    const { c, service, network, path, parameters } = call
    const { scroll_id: named } = await keysOf(call, OF_SCROLLS)
    const others = [parameters.get('scroll_id'), path.get('id')].flatMap(text => text?.split(',') ?? [])
    const ids = named.length > 0 ? named : others
    if (ids.length === 0) throw invalidCursor('no scroll ids specified')
    const isAll = ids.includes('_all')
    const { account } = askedBy(c)
    const freed = service.cursors.close({ network, account, kind: 'scroll', ids: isAll ? 'all' : ids })
    return jsonAnswer({ succeeded: true, num_freed: freed.length }, freed.length > 0 || isAll ? 200 : 404)
  },
}

const invalidCursor = (why: string) => refuse('action_request_validation_exception', `Validation Failed: 1: ${why};`)

export const CURSORS = [
  scroll,
  clearScroll,
  openPit,
  closePit,
  openPointInTime,
  listPointsInTime,
  closePointsInTime,
  closeAllPointsInTime,
]
