import { refuse } from '../../lib/errors.ts'
import type { OpenedPit, PitOpening } from '../../search/service.ts'
import { askedBy } from '../context.ts'
import { keysOf, textAt, textsAt } from './cursor-keys.ts'
import { type Call, type Endpoint, SHARDS, told } from './endpoint.ts'
import { targetOf } from './indexes.ts'

const opened = async (call: Call, dialect: PitOpening['dialect']): Promise<OpenedPit> => {
  const { network, entities } = targetOf(call)
  // Some clients send an empty object.
  await keysOf(call, [])
  const keepAlive = call.parameters.get('keep_alive')
  if (!keepAlive)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: keep alive not specified; write ?keep_alive=1m.',
    )
  return call.service.cursors.openPit({ network, entities, keepAlive, dialect, ...askedBy(call.c) })
}

const accountOf = ({ c, network }: Call) => ({ network, account: askedBy(c).account })

export const openPit: Endpoint = {
  paths: ['{index}/_pit'],
  methods: ['POST'],
  doc: 'Opens a point in time, as Elasticsearch does.',
  parameters: ['keep_alive', 'preference', 'routing'],
  handle: async call => told({ id: (await opened(call, 'elasticsearch')).id }),
}

export const closePit: Endpoint = {
  paths: ['_pit'],
  methods: ['DELETE'],
  doc: 'Closes it.',
  async handle(call) {
    const id = textAt((await keysOf(call, ['id'])).id)
    if (!id) throw refuse('illegal_argument_exception', 'search context id is not provided: write {"id": "…"}.')
    const freed = call.service.cursors.close({ ...accountOf(call), kind: 'pit', ids: [id] })
    return told({ succeeded: freed.length > 0, num_freed: freed.length }, freed.length > 0 ? 200 : 404)
  },
}

export const openPointInTime: Endpoint = {
  paths: ['{index}/_search/point_in_time'],
  methods: ['POST'],
  doc: 'Opens a point in time, as OpenSearch does.',
  parameters: ['keep_alive', 'allow_partial_pit_creation', 'preference', 'routing'],
  async handle(call) {
    const { id, opened: creation_time } = await opened(call, 'opensearch')
    return told({ pit_id: id, _shards: SHARDS, creation_time })
  },
}

export const closePointsInTime: Endpoint = {
  paths: ['_search/point_in_time'],
  methods: ['DELETE'],
  doc: 'Closes several.',
  async handle(call) {
    const ids = textsAt((await keysOf(call, ['pit_id'])).pit_id)
    if (ids.length === 0)
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: no pit ids specified;')
    call.service.cursors.close({ ...accountOf(call), kind: 'pit', ids })
    // As in OpenSearch, what was closed already is closed as well.
    return told({ pits: ids.map(pit_id => ({ successful: true, pit_id })) })
  },
}

export const closeAllPointsInTime: Endpoint = {
  paths: ['_search/point_in_time/_all'],
  methods: ['DELETE'],
  doc: 'Closes all of the account.',
  handle(call) {
    const freed = call.service.cursors.close({ ...accountOf(call), kind: 'pit', ids: 'all' })
    return told({ pits: freed.map(pit_id => ({ successful: true, pit_id })) })
  },
}

export const listPointsInTime: Endpoint = {
  paths: ['_search/point_in_time/_all'],
  methods: ['GET'],
  doc: 'The open points in time of the account.',
  handle(call) {
    const pits = call.service.cursors.pits(accountOf(call))
    return told({
      pits: pits.map(({ id, opened, keepAliveMs }) => ({ pit_id: id, creation_time: opened, keep_alive: keepAliveMs })),
    })
  },
}
