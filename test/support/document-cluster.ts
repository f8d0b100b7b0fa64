import type { Cluster } from '../../src/cluster/connection/cluster.ts'

/** Documents by their paths as OpenSearch keeps them, with sequence numbers and external versions, and nothing else. */
export const createDocumentCluster = (): Cluster => {
  const documents = new Map<string, { source: object; version: number; seqNo: number }>()
  let seqNo = 0
  const json = (status: number, body: object) => ({ status, text: JSON.stringify(body) })
  return {
    async ask({ method, path, query = {}, body }) {
      await new Promise(setImmediate)
      const found = documents.get(path)
      if (method === 'GET') {
        if (!found) return json(404, { found: false })
        return json(200, { _source: found.source, _seq_no: found.seqNo, _primary_term: 1, _version: found.version })
      }
      if (query.op_type === 'create' && found) return json(409, {})
      if (query.if_seq_no !== undefined && query.if_seq_no !== found?.seqNo) return json(409, {})
      if (query.version_type === 'external_gte' && found && Number(query.version) < found.version) return json(409, {})
      const version = query.version === undefined ? (found?.version ?? 0) + 1 : Number(query.version)
      documents.set(path, { source: body as object, version, seqNo: ++seqNo })
      return json(found ? 200 : 201, { _seq_no: seqNo, _primary_term: 1 })
    },
    close: async () => {},
  }
}
