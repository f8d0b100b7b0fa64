import { refuse } from '../../lib/errors.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Holdings } from '../../search/service.ts'
import { askedBy } from '../context.ts'
import { ASKED_SHARDS, type Call, type Endpoint, told } from './endpoint.ts'
import { indexName, kindsOf } from './indexes.ts'
import { uuidOf } from './indices.ts'

/** All kinds lie in one file: of its bytes each has the share that its documents are of all. */
export const bytesOf = ({ counts, bytes }: Holdings, kinds: readonly Kind[]): number => {
  const all = KINDS.reduce((sum, kind) => sum + counts[kind], 0)
  const own = kinds.reduce((sum, kind) => sum + counts[kind], 0)
  return all === 0 ? 0 : Math.round((bytes * own) / all)
}

const METRICS = ['_all', 'docs', 'store'] as const

/** The wanted ones; without a name all there are. */
const metricsOf = ({ c, path, names }: Call): readonly string[] => {
  const metrics = names.listed(path.get('names') ?? '_all')
  const unknown = metrics.find(name => !METRICS.some(it => it === name))
  if (unknown === undefined) return metrics
  throw refuse(
    'illegal_argument_exception',
    `request [${c.req.path}] contains unrecognized metric: [${unknown.slice(0, 80)}]. Supported are docs and store.`,
  )
}

export const stats: Endpoint = {
  paths: ['_stats', '_stats/{names}', '{index}/_stats', '{index}/_stats/{names}'],
  methods: ['GET'],
  doc: 'The number of documents and bytes of each index.',
  limit: 'Only `docs` and `store`. All indices share one file; each is credited with its share of the documents.',
  parameters: ['level', 'include_unloaded_segments', 'forbid_closed_indices', 'completion_fields', 'fielddata_fields'],
  async handle(call) {
    const { c, service, network } = call
    const kinds = kindsOf(call)
    const holdings = await service.holdings({ network, ...askedBy(c) })
    const names = metricsOf(call)
    const wants = (name: string) => names.includes('_all') || names.includes(name)
    const of = (some: readonly Kind[]) => {
      const size = bytesOf(holdings, some)
      const one = {
        ...(wants('docs') && { docs: { count: some.reduce((sum, it) => sum + holdings.counts[it], 0), deleted: 0 } }),
        ...(wants('store') && {
          store: { size_in_bytes: size, total_data_set_size_in_bytes: size, reserved_in_bytes: 0 },
        }),
      }
      return { primaries: one, total: one }
    }
    return told({
      _shards: { ...ASKED_SHARDS, total: kinds.length, successful: kinds.length },
      _all: of(kinds),
      indices: Object.fromEntries(
        kinds.map(kind => {
          const name = indexName(call, kind)
          return [name, { uuid: uuidOf(name), ...of([kind]) }]
        }),
      ),
    })
  },
}
