import type { Document } from '../documents/document.ts'
import type { Compare } from './ast.ts'

/** The condition as a test of a document. */
export const compileCompare = (_node: Compare): ((document: Pick<Document, '_source' | 'decoding'>) => boolean) => {
  throw new Error('not yet')
}
