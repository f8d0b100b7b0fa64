import { refuse } from '../../lib/errors.ts'
import { parseJson } from '../../query/json.ts'
import { bodyNode } from '../../query/json-node.ts'
import { readTemplate } from '../../query/template/request.ts'
import { PRODUCT } from '../json.ts'
import type { Call, Endpoint } from './endpoint.ts'
import { searchesWith } from './msearch.ts'
import { OF_SHARDS } from './parameters.ts'
import { BODY_PARAMETERS, textOf } from './request-body.ts'
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
    const { body, explain } = rendered(await sent(call), call)
    const parameters = call.pairs.filter(([name]) => !BODY_PARAMETERS.some(it => it === name))
    const pairs = explain ? [...parameters, ['explain', 'true'] as const] : parameters
    return searchWith({ ...call, pairs }, Buffer.from(body))
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
    searchesWith(call, line => {
      const { body, explain } = rendered(Buffer.from(line).toString(), call)
      return { body: Buffer.from(body), ...(explain && { parameters: [['explain', 'true']] }) }
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
    const { body } = rendered(await sent(call), call)
    // Shown as it is, once it is known to be JSON: no digit is lost.
    parseJson(body, call.limits)
    return new Response(`{"template_output":${body}}`, { headers: PRODUCT })
  },
}

const sent = async (call: Call): Promise<string> => {
  const text = await textOf(call)
  if (text !== undefined && text.trim() !== '') return text
  throw refuse('parse_exception', 'request body or source parameter is required')
}

const rendered = (text: string, { limits }: Call) => readTemplate(bodyNode(parseJson(text, limits)), limits)
