/**
 * Licences of the viewer of the reference page: its own, and that of the library that bundles it.
 */

export const viewer = "@scalar/api-reference"
/** Version of the viewer that the library bundles. */
export const viewerVersion = "1.43.5"

export const text = `This page is shown by a viewer that others made and that its service delivers with it.

${viewer} ${viewerVersion}
  Copyright (c) 2023-present Scalar. MIT License. Source: https://github.com/scalar/scalar
  It holds the libraries that its package names as dependencies, such as Vue
  (Copyright (c) 2018-present, Yuxi (Evan) You and contributors, MIT License).

effect, the library that brings the viewer
  Copyright (c) 2023 Effectful Technologies Inc. MIT License. Source: https://github.com/Effect-TS

MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN
NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
