import { refuse } from '../lib/errors.ts'
import type { createGasPrices } from '../search/gas-price.ts'
import { checkNetwork } from '../search/index-names.ts'
import type { SearchService } from '../search/service.ts'
import { jsonResponse } from './answer.ts'
import { askedBy } from './context.ts'
import { describedSchema, wholeSchema } from './openapi/schema.ts'
import { integerParameter, routesOf } from './request.ts'

const route = routesOf<{ service: SearchService; gasPrices: ReturnType<typeof createGasPrices> }>('Search')

const gasPriceRoute = (name: string, doc: string) =>
  route(
    'get',
    `/{technology}/{blockchain}/{network}/${name}`,
    doc,
    {
      query: ['from', 'to'],
      values: {
        from: describedSchema('First block; by default 19 below the last one.', wholeSchema),
        to: describedSchema('Last block; by default the newest one.', wholeSchema),
      },
      answers: 'GasPrice',
    },
    ({ service, gasPrices }, parameters) =>
      async c => {
        const given = parameters(c)
        const [from, to] = [
          integerParameter('from', given.from, { min: 0 }),
          integerParameter('to', given.to, { min: 0 }),
        ]
        if (from !== undefined && to !== undefined && from > to)
          throw refuse(
            'illegal_argument_exception',
            `The URL parameter [from] must be at most [to], which is ${to}, not ${from}.`,
          )
        const { technology, blockchain, network: last } = c.req.param() as Record<string, string>
        const network = `${technology}/${blockchain}/${last}`
        checkNetwork(network, service.networks(network))
        return jsonResponse(await gasPrices({ network, from, to, now: Date.now(), ...askedBy(c) }))
      },
  )

export const GAS_ROUTES = [
  gasPriceRoute('gasprice', 'Fees for the next blocks, in gwei, by what transactions of the last blocks paid.'),
  gasPriceRoute('latest-minimum-gasprice', 'An older name of `gasprice`.'),
]
