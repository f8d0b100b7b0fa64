import type { Handler } from '../context.ts'
import { json } from '../json.ts'
import { type Endpoint, told } from './endpoint.ts'

/** What clients ask a server before they ask it anything else. They go by the version, which is that of the dialect that is spoken here, and by the tagline, letter by letter. */
export const INFO = {
  name: 'chainsieve',
  cluster_name: 'chainsieve',
  cluster_uuid: 'chainsieve',
  version: {
    // opensearch-java reads it, and every other client takes it.
    distribution: 'opensearch',
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

/** `GET /` */
export const info: Handler = () => json(INFO)

export const about: Endpoint = {
  paths: [''],
  methods: ['GET'],
  doc: 'Name and version, which clients ask for first.',
  several: true,
  handle: () => told(INFO),
}
