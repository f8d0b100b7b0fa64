/** A score as `_explanation` shows it. */
export const explanationOf = (value: number): { value: number; description: string; details: unknown[] } => ({
  value,
  description: value === 1 ? 'every match of this query scores 1' : 'score of the query',
  details: [],
})
