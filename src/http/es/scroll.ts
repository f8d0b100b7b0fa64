import { refuse } from '../../lib/errors.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { keysOf, textAt, textsAt } from './cursor-keys.ts'
import { dialectOf } from './dialect.ts'
import { type Endpoint, told } from './endpoint.ts'

const PATHS = ['_search/scroll', '_search/scroll/{id}']

export const scroll: Endpoint = {
  paths: PATHS,
  methods: ['GET', 'POST'],
  doc: 'The next page of a scroll. The id is in the body, the URL or the path.',
  parameters: ['scroll', 'scroll_id', 'rest_total_hits_as_int', 'typed_keys'],
  async handle(call) {
    const { c, service, log, network, path, parameters } = call
    const keys = await keysOf(call, ['scroll_id', 'scroll'])
    const id = textAt(keys.scroll_id) ?? parameters.get('scroll_id') ?? path.get('id')
    if (!id) throw invalid('scrollId is missing')
    const asked = { network, id, scroll: textAt(keys.scroll) ?? parameters.get('scroll') }
    return sendAnswer(c, log, await service.cursors.scroll({ ...asked, dialect: dialectOf(call), ...askedBy(c) }))
  },
}

export const clearScroll: Endpoint = {
  paths: PATHS,
  methods: ['DELETE'],
  doc: 'Closes scrolls: one, several, or with `_all` all of the account.',
  parameters: ['scroll_id'],
  async handle(call) {
    const { c, service, network, path, parameters } = call
    const named = textsAt((await keysOf(call, ['scroll_id'])).scroll_id)
    const others = [parameters.get('scroll_id'), path.get('id')].flatMap(text => text?.split(',') ?? [])
    const ids = named.length > 0 ? named : others
    if (ids.length === 0) throw invalid('no scroll ids specified')
    const isAll = ids.includes('_all')
    const { account } = askedBy(c)
    const freed = service.cursors.close({ network, account, kind: 'scroll', ids: isAll ? 'all' : ids })
    return told({ succeeded: true, num_freed: freed.length }, freed.length > 0 || isAll ? 200 : 404)
  },
}

const invalid = (why: string) => refuse('action_request_validation_exception', `Validation Failed: 1: ${why};`)
