import type { ChainsieveError } from '../../lib/errors.ts'
import { notInCluster } from '../refused.ts'

/** A part of a search, named as it is in the request, that a cluster cannot do as a store does. `remedy`: what the caller can do instead. */
export const unsupported = (part: string, remedy: string): ChainsieveError => notInCluster(`[${part}]`, remedy)
