import type { SpecOf } from '../../query/aggs/ast.ts'
import { rareTermsType, termKey } from '../../query/aggs/buckets/terms.ts'
import type { Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import { group } from './group.ts'
import { createKeyed } from './keyed.ts'
import { sharedKeys } from './keys.ts'
import { createSource } from './sources.ts'
import { numberOf, wantedBy } from './terms.ts'
import { mapped } from './values.ts'

/** Terms that few documents have, the rarest first, and of equal ones by their keys. */
export const createRareTerms = (spec: SpecOf<'rare_terms'>, inner: Inner, context: Context): Aggregator => {
  const { values, maxDocCount } = spec
  const keys = sharedKeys(values, context)
  const source = createSource(values, keys, context)
  const wanted = wantedBy(spec, keys)
  const keyed = createKeyed(
    (at, batch, wantsInner) => {
      const found = source.read(at, batch)
      return group(wanted ? mapped(found, wanted) : found, batch, wantsInner)
    },
    inner,
    context.reader.check,
  )
  return {
    collect: keyed.collect,
    merge: keyed.merge,
    finish: () => keyed.finish(),
    result(owner): Buckets {
      const { counts } = keyed
      const rare = keyed.in(owner).filter(bucket => counts[bucket]! <= maxDocCount)
      context.count(rare.length)
      rare.sort((a, b) => counts[a]! - counts[b]! || keys.compare(keyed.keys[a]!, keyed.keys[b]!))
      return {
        is: 'buckets',
        type: rareTermsType(values.type),
        members: [],
        keyed: false,
        buckets: Array.from(rare, bucket => ({
          key: termKey(keys.value(keyed.keys[bucket]!), spec),
          ...numberOf(values.type, keyed.keys[bucket]!),
          docCount: counts[bucket]!,
          results: resultsOf(inner, bucket),
        })),
      }
    },
    number: () => null,
    keyOf: ([value]) => keys.of(value!),
    bytes: () => keyed.bytes() + keys.bytes(),
  }
}
