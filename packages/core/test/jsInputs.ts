/** The values that vectors write as JavaScript, which not every runtime evaluates. */
export const jsInputs: Readonly<Record<string, () => unknown>> = {
  "undefined": () => undefined,
  "({a:undefined})": () => ({ a: undefined }),
  "({a:1,b:undefined})": () => ({ a: 1, b: undefined }),
  "({a:1})": () => ({ a: 1 }),
  "({})": () => ({}),
  "[undefined]": () => [undefined],
  "([1,undefined])": () => [1, undefined],
  // oxlint-disable-next-line no-sparse-arrays
  "[1,,2]": () => [1, , 2],
  // oxlint-disable-next-line no-sparse-arrays
  "([1,,2])": () => [1, , 2],
  "(()=>1)": () => () => 1,
  "[()=>1]": () => [() => 1],
  "({a(){}})": () => ({ a() {} }),
  "Object.assign(()=>1,{x:1})": () => Object.assign(() => 1, { x: 1 }),
  "Object.assign([1,2],{x:1})": () => Object.assign([1, 2], { x: 1 }),
  "[Symbol(\"x\")]": () => [Symbol("x")],
  "({[Symbol(\"s\")]:1,a:2})": () => ({ [Symbol("s")]: 1, a: 2 }),
  "({[Symbol(\"k\")]:1,a:1})": () => ({ [Symbol("k")]: 1, a: 1 }),
  "NaN": () => Number.NaN,
  "({a:Infinity})": () => ({ a: Number.POSITIVE_INFINITY }),
  "({a:-0})": () => ({ a: -0 }),
  "new Date(0)": () => new Date(0),
  "(new Date(0))": () => new Date(0),
  "(new Date(86400000))": () => new Date(86_400_000),
  "new Map([[1,2]])": () => new Map([[1, 2]]),
  "(new Map([[1,2]]))": () => new Map([[1, 2]]),
  "/x/g": () => /x/g,
  "(/x/)": () => /x/,
  "new Error(\"x\")": () => new Error("x"),
  "Object.defineProperty({a:1},\"hidden\",{value:2})": () => Object.defineProperty({ a: 1 }, "hidden", { value: 2 }),
  "Object.create(null)": () => Object.create(null),
  "({toJSON(){return 1}})": () => ({ toJSON: () => 1 }),
  "1n": () => 1n,
  "({a:1n})": () => ({ a: 1n }),
  "(()=>{const a={};a.a=a;return a})()": () => {
    const a: { a?: unknown } = {}
    a.a = a
    return a
  }
}
