import { refuse } from '../../lib/errors.ts'
import { askedBy } from '../context.ts'
import { PRODUCT } from '../json.ts'
import type { Call, Endpoint } from './endpoint.ts'
import { isBlank, searchesWith } from './msearch.ts'
import { OF_SHARDS } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'
import { searchWith } from './search.ts'

const OF_TEMPLATES = ['rest_total_hits_as_int', 'scroll', 'type', 'typed_keys'] as const

export const searchTemplate: Endpoint = {
  paths: ['_search/template', '{index}/_search/template', '{index}/{type}/_search/template'],
  methods: ['GET', 'POST'],
  doc: 'Searches by a mustache template, `source`, filled with `params`.',
  limit: 'Send the template: none are stored. `id`, `profile` and partials are refused.',
  parameters: [...OF_TEMPLATES, 'explain', ...OF_SHARDS, ...BODY_PARAMETERS],
  several: true,
  async handle(call) {
    const { body, explain } = await rendered(call, await sent(call))
    const parameters = call.pairs.filter(([name]) => !BODY_PARAMETERS.some(it => it === name))
    const pairs = explain ? [...parameters, ['explain', 'true'] as const] : parameters
    return searchWith({ ...call, pairs }, body)
  },
}

export const msearchTemplate: Endpoint = {
  paths: ['_msearch/template', '{index}/_msearch/template', '{index}/{type}/_msearch/template'],
  methods: ['GET', 'POST'],
  doc: 'Several searches by templates, as lines of JSON: a header and a template for each.',
  limit: 'As `_msearch` and `_search/template`.',
  parameters: [...OF_SHARDS, 'max_concurrent_searches', 'rest_total_hits_as_int', 'type', 'typed_keys'],
  several: true,
  handle: call =>
    searchesWith(call, async line => {
      const { body, explain } = await rendered(call, line)
      return { body, ...(explain && { parameters: [['explain', 'true']] }) }
    }),
}

export const renderTemplate: Endpoint = {
  paths: ['_render/template', '_render/template/{id}'],
  methods: ['GET', 'POST'],
  doc: 'What a template makes of its `params`, without searching.',
  limit: 'The template is sent as `source`: none are stored.',
  parameters: BODY_PARAMETERS,
  several: true,
  async handle(call) {
    const id = call.path.get('id')
    if (id !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `unable to find script [${id.slice(0, 80)}]: templates are not stored here. Send it as [source] to _render/template.`,
      )
    const { body } = await rendered(call, await sent(call), true)
    // Shown as it is, since it is known to be JSON: no digit is lost.
    return new Response(Buffer.concat([Buffer.from('{"template_output":'), body, Buffer.from('}')]), {
      headers: PRODUCT,
    })
  },
}

const sent = async (call: Call): Promise<Uint8Array> => {
  const body = await bodyOf(call)
  if (body !== undefined && !isBlank(body)) return body
  throw refuse('parse_exception', 'request body or source parameter is required')
}

const rendered = ({ c, service }: Call, body: Uint8Array, isJson = false) =>
  service.render({ body, isJson, ...askedBy(c) })
