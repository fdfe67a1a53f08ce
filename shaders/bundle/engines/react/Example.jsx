// @NAME@ on a sphere, written by Verdigris for @react-three/fiber: <Example /> is a whole scene.
// docs/engines/REACT.md of Verdigris describes all properties.
import { Canvas } from "@react-three/fiber";
import { Suspense } from "react";
import { NeuralMaterial } from "./verdigris/react.js";

/** The folder @BUNDLE@ lies in `public`, which Vite and Next.js serve at the address "/". */
export const bundle = "/@BUNDLE@";

export function Sphere({ from = bundle, ...material }) {
  return (
    <mesh>
      <sphereGeometry args={[1, 64, 32]} />
      <NeuralMaterial from={from} {...material} />
    </mesh>
  );
}

export default function Example() {
  return (
    <Canvas camera={{ position: [0, 0, 4], fov: 40 }}>
      <directionalLight position={[-2, 2, 3]} intensity={3} />
      <directionalLight position={[3, 0, 1]} intensity={0.5} />
      <Suspense fallback={null}>
        <Sphere />
      </Suspense>
    </Canvas>
  );
}
