import { scalar } from '../json-node.ts'
import { checkText, patternOn } from '../leaves.ts'
import { testedMetaField } from '../meta.ts'
import { prefixOn } from '../prefix.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { readFlag } from '../text-query.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { checkRewrite } from './rewrite.ts'

export const prefix: Clause = {
  doc: 'A keyword, or a word of a text field, begins with this text; with case_insensitive in any letter case.',
  example: { 'event.raw': 'Trans' },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('prefix', place)
    const { value, case_insensitive, rewrite } = shortOrLong(at, 'value', ['case_insensitive', 'rewrite'])
    checkRewrite(rewrite)
    const ignoreCase = readFlag(case_insensitive, false)
    const meta = testedMetaField('prefix', name, at, scope, text => text.startsWith(String(value.value)))
    if (meta) return constant(meta)
    return onField(name, at, scope, field => {
      checkText('prefix', field, value)
      const text = scope.budget.text(scalar(value, 'a text'), value)
      if (!ignoreCase || field.compare === 'hex') return prefixOn(field, text)
      // Words have small letters.
      if (field.compare === 'token') return prefixOn(field, text.toLowerCase())
      return patternOn('prefix', field, value, { how: 'prefix', text, ignoreCase })
    })
  },
}
