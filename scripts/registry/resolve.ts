import type { Declaration } from './declaration.ts'
import { format, hashedForm, hashOf } from './declaration.ts'

export interface Signature {
  /** Topic 0 of an event, selector of a function. */
  hash: string
  /** What it is the hash of: `Transfer(address,address,uint256)`. */
  hashed: string
  /** The human-readable form, with names. */
  text: string
}

interface Variant {
  text: string
  rank: number
  /** Names of the packages that declare it so, the first one first. */
  packages: Set<string>
}

/**
 * Chooses one spelling for each topic and number of indexed arguments (for each selector, with functions). In this order:
 * all arguments named and none by `_param`; the spelling that most packages use, where versions of one package count
 * once; the package that comes first; the alphabet.
 */
export function createResolver() {
  const groups = new Map<string, { hash: string; hashed: string; variants: Map<string, Variant> }>()
  const fixed = new Map<string, Signature>()
  const order = new Map<string, number>()

  return {
    add(declaration: Declaration, packageName: string): void {
      if (!order.has(packageName)) order.set(packageName, order.size)
      const text = format(declaration)
      const key = keyOf(declaration)
      const group = groups.get(key) ?? { ...hashesOf(declaration), variants: new Map<string, Variant>() }
      groups.set(key, group)
      const variant = group.variants.get(text) ?? newVariant(declaration, text)
      group.variants.set(text, variant)
      variant.packages.add(packageName)
    },

    /** Takes this spelling whatever packages say. */
    fix(declaration: Declaration): void {
      fixed.set(keyOf(declaration), { ...hashesOf(declaration), text: format(declaration) })
    },

    /** In the order of their text, so that a change of the sources shows as a small difference. */
    resolve(): Signature[] {
      const first = (packages: Set<string>) => Math.min(...[...packages].map(name => order.get(name)!))
      const better = (a: Set<string>, b: Set<string>) => b.size - a.size || first(a) - first(b)
      const found = [...groups]
        .filter(([key]) => !fixed.has(key))
        .map(([, { hash, hashed, variants }]) => {
          const [best] = [...variants.values()].sort(
            (a, b) => a.rank - b.rank || better(a.packages, b.packages) || compare(a.text, b.text),
          )
          return { hash, hashed, text: best!.text }
        })
      return [...found, ...fixed.values()].sort((a, b) => compare(a.text, b.text))
    },
  }
}

const keyOf = (declaration: Declaration) =>
  `${hashedForm(declaration)} ${declaration.inputs.filter(input => input.indexed).length}`

const hashesOf = (declaration: Declaration) => ({ hash: hashOf(declaration), hashed: hashedForm(declaration) })

const newVariant = (declaration: Declaration, text: string): Variant => ({
  text,
  rank: rankOf(declaration),
  packages: new Set(),
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
