import type { ClusterHit } from '../../cluster/hits/found.ts'
import { withMembers } from '../../cluster/members.ts'
import type { PatchLine } from '../../cluster/ship/line.ts'
import type { Document } from '../../documents/document.ts'
import { blockOf } from '../../engine/schema.ts'
import type { Kind } from '../../mapping/index.ts'

/** Documents of a cluster that are to be others. */
export interface Changes {
  /** Another value of a member. */
  set(hit: ClusterHit, name: string, value: unknown): void
  /** A document that stands where another one does; `was`: what there was of it. */
  put(kind: Kind, beside: ClusterHit, document: Document, was: ClusterHit | undefined): void
  /** Those that differ from what is there. */
  lines(): PatchLine[]
}

export const createChanges = (): Changes => {
  const changed = new Map<string, { hit: ClusterHit; members: Map<string, string> }>()
  const lines: PatchLine[] = []
  return {
    set(hit, name, value) {
      const key = `${hit.kind} ${hit.position}`
      const one = changed.get(key) ?? { hit, members: new Map<string, string>() }
      changed.set(key, one)
      one.members.set(name, JSON.stringify(value))
    },
    put(kind, beside, { _id: id, _parent: parent, _source }, was) {
      const source = JSON.stringify(_source)
      if (source !== was?.source) lines.push(lineOf({ ...beside, kind, id, parent }, source))
    },
    lines() {
      for (const { hit, members } of changed.values()) {
        const source = withMembers(hit.kind, hit.source, members)
        if (source !== hit.source) lines.push(lineOf(hit, source))
      }
      return lines
    },
  }
}

const ENCODER = new TextEncoder()

const lineOf = (
  {
    kind,
    id,
    position,
    routing,
    parent,
    batch,
  }: Pick<ClusterHit, 'kind' | 'id' | 'position' | 'routing' | 'parent' | 'batch'>,
  source: string,
): PatchLine => ({
  ...{ kind, id, position, routing, parent, batch },
  block: blockOf(position),
  source: ENCODER.encode(source),
})
