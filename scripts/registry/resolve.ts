import type { Declaration } from './declaration.ts'
import { format, formatOutputs, hashedForm, hashOf } from './declaration.ts'

export interface Signature {
  /** Topic 0 of an event, selector of a function. */
  hash: string
  /** The human-readable form, with names. */
  text: string
  /** ` returns (…)` of a function, empty where there is none. */
  outputs: string
}

interface Variant {
  text: string
  rank: number
  /** Names of the packages that declare it so, the first one first. */
  packages: Set<string>
  outputs: Map<string, Set<string>>
}

/**
 * Chooses one spelling for each topic and number of indexed arguments (for each selector, with functions). In this order:
 * all arguments named and none by `_param`; the spelling that most packages use, where versions of one package count
 * once; the package that comes first; the alphabet.
 */
export function createResolver() {
  const groups = new Map<string, { hash: string; variants: Map<string, Variant> }>()
  const fixed = new Map<string, Signature>()
  const order = new Map<string, number>()

  return {
    add(declaration: Declaration, packageName: string): void {
      if (!order.has(packageName)) order.set(packageName, order.size)
      const text = format(declaration)
      const key = keyOf(declaration)
      const group = groups.get(key) ?? { hash: hashOf(declaration), variants: new Map<string, Variant>() }
      groups.set(key, group)
      const variant = group.variants.get(text) ?? newVariant(declaration, text)
      group.variants.set(text, variant)
      variant.packages.add(packageName)
      const outputs = formatOutputs(declaration)
      variant.outputs.set(outputs, (variant.outputs.get(outputs) ?? new Set()).add(packageName))
    },

    /** Takes this spelling whatever packages say. */
    fix(declaration: Declaration): void {
      const outputs = formatOutputs(declaration)
      fixed.set(keyOf(declaration), { hash: hashOf(declaration), text: format(declaration), outputs })
    },

    /** In the order of their text, so that a change of the sources shows as a small difference. */
    resolve(): Signature[] {
      const first = (packages: Set<string>) => Math.min(...[...packages].map(name => order.get(name)!))
      const better = (a: Set<string>, b: Set<string>) => b.size - a.size || first(a) - first(b)
      const found = [...groups]
        .filter(([key]) => !fixed.has(key))
        .map(([, { hash, variants }]) => {
          const [best] = [...variants.values()].sort(
            (a, b) => a.rank - b.rank || better(a.packages, b.packages) || compare(a.text, b.text),
          )
          const [outputs] = [...best!.outputs].sort((a, b) => better(a[1], b[1]) || compare(a[0], b[0]))
          return { hash, text: best!.text, outputs: outputs![0] }
        })
      return [...found, ...fixed.values()].sort((a, b) => compare(a.text, b.text))
    },
  }
}

const keyOf = (declaration: Declaration) =>
  `${hashedForm(declaration)} ${declaration.inputs.filter(input => input.indexed).length}`

const newVariant = (declaration: Declaration, text: string): Variant => ({
  text,
  rank: rankOf(declaration),
  packages: new Set(),
  outputs: new Map(),
})

/** 0: every argument has a proper name, 1: some are written `_param`, 2: some have none. */
function rankOf({ inputs }: Declaration): number {
  const rank = (params: Declaration['inputs'][number]['components'] & {}): number =>
    Math.max(
      0,
      ...params.map(({ name, components }) =>
        Math.max(name === '' ? 2 : name.startsWith('_') ? 1 : 0, components === undefined ? 0 : rank(components)),
      ),
    )
  return rank(inputs)
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
