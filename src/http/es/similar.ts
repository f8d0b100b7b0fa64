import { refuse } from '../../lib/errors.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import type { Endpoint } from './endpoint.ts'
import { readSize } from './parameters.ts'

export const similar: Endpoint = {
  paths: ['contract/{id}/similar'],
  methods: ['GET'],
  doc: 'Contracts with the most similar code. Elasticsearch does not have it.',
  parameters: ['size'],
  async handle(call) {
    const { c, service, log, network, path } = call
    const address = path.get('id')!
    if (!/^0x[0-9a-f]{40}$/i.test(address))
      throw refuse(
        'illegal_argument_exception',
        `Name a contract by its address, 0x and 40 hex digits, not by [${address.slice(0, 80)}].`,
      )
    return sendAnswer(c, log, await service.similar({ network, address, size: readSize(call), ...askedBy(c) }))
  },
}
