import { refuse } from '../../lib/errors.ts'
import { answerSchema, orError, schemaRef } from '../openapi/schema.ts'
import { type EsEndpoint, jsonAnswer, OF_CLUSTER } from './endpoint.ts'

/** Templates of indices, of which there are none: tools that copy an index ask for them. */
const emptyEndpoint = (name: string, none: object, missing?: string): EsEndpoint => ({
  paths: [name, `${name}/{names}`],
  methods: ['GET'],
  doc: 'Always empty: the mapping is fixed. A name is answered with 404.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'include_type_name'],
  answers: { 200: answerSchema(schemaRef('Templates')), 404: orError('Templates', 'It is not there.') },
  handle({ path }) {
    const names = path.get('names')
    if (names === undefined) return jsonAnswer(none)
    if (missing === undefined || names.includes('*')) return jsonAnswer(none, 404)
    throw refuse('resource_not_found_exception', `${missing} matching [${names.slice(0, 80)}] not found`)
  },
})

export const TEMPLATES = [
  emptyEndpoint('_template', {}),
  emptyEndpoint('_component_template', { component_templates: [] }, 'component template'),
  emptyEndpoint('_index_template', { index_templates: [] }, 'index template'),
]
