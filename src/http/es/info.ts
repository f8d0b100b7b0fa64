import type { Handler } from '../context.ts'
import { json } from '../json.ts'

/**
 * `GET /` and `GET …/es/`: what clients ask a server before they ask it anything else. They go by the version, which is that of
 * the dialect that is spoken here, and by the tagline, letter by letter.
 */
export const info: Handler = () => json(INFO)

const INFO = {
  name: 'chainsieve',
  cluster_name: 'chainsieve',
  cluster_uuid: 'chainsieve',
  version: {
    number: '7.17.0',
    build_flavor: 'default',
    build_type: 'unknown',
    build_hash: 'unknown',
    build_date: '1970-01-01T00:00:00.000Z',
    build_snapshot: false,
    lucene_version: '8.11.1',
    minimum_wire_compatibility_version: '6.8.0',
    minimum_index_compatibility_version: '6.0.0-beta1',
  },
  tagline: 'You Know, for Search',
}
