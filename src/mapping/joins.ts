import { KINDS, type Kind, MAPPING } from './index.ts'

/** What the documents of a kind may have as their parent, as the mapping declares it. */
export const parentsOf = (kind: Kind): readonly Kind[] => MAPPING[kind].parents as readonly Kind[]

export const childrenOf = (kind: Kind): Kind[] => KINDS.filter(child => parentsOf(child).includes(kind))
