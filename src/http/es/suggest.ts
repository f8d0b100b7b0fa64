import { refuse } from '../../lib/errors.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import type { Endpoint } from './endpoint.ts'
import { readSize } from './parameters.ts'

export const suggest: Endpoint = {
  paths: ['suggest'],
  methods: ['GET'],
  doc: 'Names that someone who types `q` may mean. Elasticsearch does not have it.',
  parameters: ['q', 'size'],
  async handle(call) {
    const { c, service, log, network, parameters } = call
    const q = parameters.get('q') ?? ''
    if (q.length > LONGEST)
      throw refuse(
        'illegal_argument_exception',
        `The URL parameter [q] has ${q.length} characters, and may have ${LONGEST}.`,
      )
    return sendAnswer(c, log, await service.suggest({ network, q, size: readSize(call), ...askedBy(c) }))
  },
}

const LONGEST = 200
