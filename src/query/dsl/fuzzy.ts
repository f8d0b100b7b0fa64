import { scalar } from '../json-node.ts'
import { EXACT, type NearKey, nearOn, notFuzzy, readNear } from '../leaves.ts'
import { isMeta } from '../meta.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { isConstantRewrite } from './rewrite.ts'

export const fuzzy: Clause = {
  doc: 'A name, or a word of a text field, differs from this one in at most so many letters (fuzziness: 0, 1, 2, "AUTO" or "AUTO:low,high"); the first ones (prefix_length) are the same.',
  example: { event: { value: 'trnsfer' } },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('fuzzy', place)
    const { value, rewrite, ...keys } = shortOrLong(at, 'value', OPTIONS)
    const isConstant = isConstantRewrite(rewrite)
    const near = readNear(keys, { path: value.path, value: 'AUTO' })!
    if (isMeta(name)) throw notFuzzy(value, name, EXACT)
    return onField(name, at, scope, field => {
      const scored = nearOn(field, scope.budget.text(scalar(value, 'a text'), value), near)
      return isConstant ? constant(scored.node) : scored
    })
  },
}

const OPTIONS = [
  'fuzziness',
  'prefix_length',
  'max_expansions',
  'transpositions',
  'rewrite',
] as const satisfies readonly (NearKey | 'rewrite')[]
