import { type JsonNode, string, unexpected } from '../json-node.ts'
import type { ScoreMode } from '../score.ts'

/** What the scores of several elements or children make together. */
export const readScoreMode = (place: JsonNode | undefined, fallback: ScoreMode | 'none'): ScoreMode | 'none' => {
  if (place === undefined || place.value === null) return fallback
  const name = string(place, EXPECTED).toLowerCase()
  const mode = MODES.find(mode => mode === name)
  if (mode === undefined) throw unexpected(place, EXPECTED)
  return mode
}

const MODES = ['avg', 'sum', 'min', 'max', 'none'] as const
const EXPECTED = '"avg", "sum", "min", "max" or "none"'
