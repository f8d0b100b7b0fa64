import { refuse } from '../../lib/errors.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { answerSchema, orError, schemaRef } from '../openapi/schema.ts'
import { type EsEndpoint, sizeParameter } from './endpoint.ts'

const similarTo = (
  kind: Parameters<SearchService['similar']>[0]['kind'],
  id: RegExp,
  named: string,
  doc: string,
): EsEndpoint => ({
  paths: [`${kind}/{id}/similar`],
  methods: ['GET'],
  doc: `${doc} Elasticsearch does not have it.`,
  parameters: ['size'],
  tag: 'Search',
  answers: {
    200: answerSchema(schemaRef('SearchAnswer')),
    404: orError('Document', `The ${kind} is not there.`),
    501: answerSchema(schemaRef('Error'), 'sqlite-vec cannot be loaded on the platform of the server.'),
  },
  async handle(call) {
    const { c, service, log, network, path } = call
    const asked = path.get('id')!
    if (!id.test(asked)) throw refuse('illegal_argument_exception', `Name ${named}, not by [${asked.slice(0, 80)}].`)
    return sendAnswer(
      c,
      log,
      await service.similar({ network, kind, id: asked, size: sizeParameter(call), ...askedBy(c) }),
    )
  },
})

const similarContracts = similarTo(
  'contract',
  /^0x[0-9a-f]{40}$/i,
  'a contract by its address, 0x and 40 hex digits',
  'Contracts with the most similar code.',
)

const similarEvents = similarTo(
  'event',
  /^0x[0-9a-f]{64}_e_\d{1,7}$/i,
  'an event by its _id, 0x… _e_ and the number of its log',
  'The same event, the newest one each, of contracts with similar code.',
)

const similarCalls = similarTo(
  'call',
  /^0x[0-9a-f]{64}_c(_\d{1,10})*$/i,
  'a call by its _id, 0x… _c and the way to it',
  'Calls of the same function, the newest one each, of contracts with similar code.',
)

const suggest: EsEndpoint = {
  paths: ['suggest'],
  methods: ['GET'],
  doc: 'Names that someone who types `q` may mean. Elasticsearch does not have it.',
  parameters: ['q', 'size'],
  tag: 'Search',
  answers: 'Suggestions',
  async handle(call) {
    const { c, service, log, network, parameters } = call
    const q = parameters.get('q') ?? ''
    if (q.length > MAX_TYPED_LENGTH)
      throw refuse(
        'illegal_argument_exception',
        `The URL parameter [q] has ${q.length} characters, and may have ${MAX_TYPED_LENGTH}.`,
      )
    return sendAnswer(c, log, await service.suggest({ network, q, size: sizeParameter(call), ...askedBy(c) }))
  },
}

const MAX_TYPED_LENGTH = 200

export const EXTENSIONS = [suggest, similarContracts, similarEvents, similarCalls]
