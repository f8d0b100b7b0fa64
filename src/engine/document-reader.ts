import type { Token } from '../decode/registry.ts'
import type { Limits } from '../limits/index.ts'
import type { DocumentReader } from './port.ts'
import { createSearcher } from './query/searcher.ts'
import { createSuggester, type Suggester } from './query/suggest.ts'
import { openReader, readingIn, wholeRanges } from './reader.ts'

export interface DocumentReaderOptions {
  /** Path of SQLite's binding. */
  native?: string | undefined
  limits?: Limits
  /** Read when a suggestion is first asked for; default: none. */
  tokens?(): readonly Token[]
}

/** Opens the store of one network for its questions. */
export const openDocumentReader = (
  path: string,
  { native, limits, tokens = () => [] }: DocumentReaderOptions = {},
): DocumentReader => {
  const reader = openReader(path, native)
  let suggester: Suggester | undefined
  const read = readingIn(reader)
  return {
    ...createSearcher(reader, limits),
    suggest(request) {
      suggester ??= createSuggester(reader, tokens)
      return read(() => suggester!(request))
    },
    ranges: () => read(() => wholeRanges(reader.segments())),
    close: reader.close,
  }
}
