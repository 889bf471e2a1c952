"""The simulated table: what its camera and its other devices would see."""
